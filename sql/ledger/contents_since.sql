--! about: The contents of the books, from what they had after a load ($load_number with $row_count rows and a $cost): later
--! about: loads wrote the rows with larger numbers, and restatements list the older rows that they replaced. Only blocks with
--! about: new rows are read. `rows_now` is counted; hours that were lost and fetched again have the number of an older load.
with written as (
  select count(*) as row_count, coalesce(sum(cost), 0) as cost
  from ledger.hourly_costs
  where load_number > cast($load_number as bigint)
),
replaced as (
  select count(*) as row_count, coalesce(sum(old_cost), 0) as cost
  from ledger.restatements
  where load_number > cast($load_number as bigint) and old_load_number <= cast($load_number as bigint)
)
select
  (select coalesce(max(load_number), 0) from ledger.loads) as load_number,
  cast($row_count as bigint) + written.row_count - replaced.row_count as row_count,
  cast(cast($cost as decimal(38, 12)) + written.cost - replaced.cost as varchar) as cost,
  (select count(*) from ledger.hourly_costs) as rows_now,
  exists (
    from ledger.covered where load_number > cast($load_number as bigint) and since_load < load_number
  ) as has_restored_hours
from written, replaced;
