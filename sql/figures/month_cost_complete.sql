--! about: What a month costs in its complete hours, in USD: those before the hour through which every account is complete.
--! about: Only these are compared with other periods. One row: the month.
with books as (
  select
    --! include: state_of_accounts
  from accounts
)
select strftime(bucket_start, '%Y-%m') as subject, cast(sum(cost) as decimal(38, 12)) as value
from costs
where bucket_start < (select complete_through from books)
group by subject;
