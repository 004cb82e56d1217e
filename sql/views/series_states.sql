--! about: Every series over all time, divided where the known state of its resource changes.
--! grain: series_id, from_time
-- Internal: public views build on it. Rules are matched against these few rows, never against hours.
create or replace view ledger.series_states as
with known as (
  select series_id, from_time, to_time, labels, external_id, display_name, region, created_by, integration_connections, provider
  from ledger.resources_of_series
  union all
  -- An empty state before all others: the time after it, until the first known state, becomes a row of its own.
  select series_id, cast('-infinity' as timestamp), cast('-infinity' as timestamp), null, null, null, null, null,
    null, null
  from ledger.series
),
parts as (
  select series_id, from_time, to_time, labels, external_id, display_name, region, created_by, integration_connections, provider
  from known
  union all
  select
    series_id,
    to_time,
    coalesce(lead(from_time) over (partition by series_id order by from_time, to_time), cast('infinity' as timestamp)),
    null, null, null, null, null, null, null
  from known
)
select
  parts.series_id,
  parts.from_time,
  parts.to_time,
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  parts.labels,
  parts.external_id,
  parts.display_name,
  parts.region,
  parts.created_by,
  parts.integration_connections,
  parts.provider
from parts
join ledger.series as series using (series_id)
where parts.from_time < parts.to_time;
