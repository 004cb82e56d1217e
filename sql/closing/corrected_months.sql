--! about: For each account the closed months that changed after their close, with each month that bills a part of the change.
select
  account,
  strftime(usage_month, '%Y-%m') as month,
  strftime(billing_month, '%Y-%m') as billed_in
from corrections
group by account, usage_month, billing_month
having sum(cost) <> 0
order by all;
