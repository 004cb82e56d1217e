--! about: What a closed month bills, in USD: its invoice, or else its cost and the corrections of earlier months that it bills.
--! about: It never changes. One row: the month.
select strftime(billing_month, '%Y-%m') as subject, cast(sum(billed_cost) as decimal(38, 12)) as value
from closes
where is_closed
group by subject;
