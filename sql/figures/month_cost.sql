--! about: What the hours of a month cost, as the platform reports them now, in USD: all hours that the books have, also young
--! about: ones, which may still grow. One row: the month.
select strftime(bucket_start, '%Y-%m') as subject, cast(sum(cost) as decimal(38, 12)) as value
from costs
group by subject;
