--! about: The state of the resource behind each series, by time. A time without start is 1970-01-01, one without end 9999-12-31.
--! grain: series_id, from_time
--! version: 2
select
  series_id,
  greatest(from_time, timestamp '1970-01-01') as from_time,
  least(to_time, timestamp '9999-12-31') as to_time,
  display_name,
  external_id,
  labels,
  region,
  memory_mb,
  generation,
  status,
  created_by,
  integration_connections,
  provider
from lake_states
order by series_id, from_time
