--! about: How much there is to load; and a series ID that two different series share: 64 bits of MD5 make that
--! about: unlikely, this check makes it harmless.
with all_series as (
  select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
  from incoming_series
  union
  select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
  from ledger.series
  where series_id in (select series_id from incoming_series)
),
shared as (
  select min(series_id) as shared_series_id
  from (
    select series_id
    from all_series
    group by series_id
    having count(*) > 1
  )
),
-- Summed separately: next to the sums, DuckDB would join the shared ID to every row first.
sums as (
  select count(*) as row_count, coalesce(sum(cost), 0) as cost
  from loaded
)
select sums.row_count, sums.cost, shared.shared_series_id
from sums
cross join shared;
