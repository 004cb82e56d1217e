--! about: What the hours of a closed month cost when it was closed, in USD; it never changes. One row: the month.
select strftime(billing_month, '%Y-%m') as subject, cast(sum(cost) as decimal(38, 12)) as value
from closes
where is_closed
group by subject;
