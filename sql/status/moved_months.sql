--! about: How much each closed month changed after its close, and which months bill the change.
select
  strftime(usage_month, '%Y-%m') as month,
  cast(sum(cost) as varchar) as cost,
  count(*) as corrections,
  string_agg(distinct strftime(billing_month, '%Y-%m'), ',' order by strftime(billing_month, '%Y-%m')) as months
from corrections
group by usage_month
order by usage_month;
