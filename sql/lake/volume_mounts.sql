--! about: Which resources mount the volume behind a series, by time.
--! grain: series_id, mounter
--! version: 2
select
  series_id,
  mounter,
  greatest(from_time, timestamp '1970-01-01') as from_time,
  least(to_time, timestamp '9999-12-31') as to_time,
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  labels,
  external_id,
  display_name,
  region,
  created_by,
  integration_connections,
  provider
from ledger.volume_mounts
order by series_id, mounter
