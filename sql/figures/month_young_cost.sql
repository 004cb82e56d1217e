--! about: What the hours of a month cost that are not complete yet, in USD: those from the hour on through which every account is
--! about: complete. They may still grow. One row: the month.
with books as (
  select
    --! include: state_of_accounts
  from accounts
)
select strftime(bucket_start, '%Y-%m') as subject, cast(sum(cost) as decimal(38, 12)) as value
from costs
where bucket_start >= (select complete_through from books)
group by subject;
