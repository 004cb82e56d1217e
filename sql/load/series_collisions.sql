--! about: Two different series with one id: 64 bits of md5 make it unlikely, this makes it harmless.
with all_series as (
  select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
  from incoming_series
  union
  select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
  from ledger.series
  where series_id in (select series_id from incoming_series)
)
select series_id, count(*) as how_many
from all_series
group by series_id
having count(*) > 1
limit 1;
