--! about: Series of closed months whose workspace was renamed since, and the series under the old name that was billed.
--! grain: series_id, usage_month
-- Internal: public views build on it, and books of a close. So it reads the hours as loaded.
create or replace view ledger.renamed_series as
with
changed as materialized (select distinct series_id, usage_month from ledger.changes_after_close),
-- The same resource under another name of its workspace.
namesakes as materialized (
  select named.series_id, was.series_id as was_series_id, was.account, was.workspace
  from ledger.series as named
  join ledger.series as was
    on was.account = named.account
    and was.workspace <> named.workspace
    and was.resource_type = named.resource_type
    and was.resource_name is not distinct from named.resource_name
    and was.resource_uuid is not distinct from named.resource_uuid
    and was.billing_dimension is not distinct from named.billing_dimension
  where named.series_id in (select series_id from changed) and was.series_id in (select series_id from changed)
),
costing as (
  select distinct series.account, series.workspace
  from ledger.hourly_costs_loaded as hourly_costs
  join ledger.series as series using (series_id)
  where hourly_costs.cost <> 0
    and (series.account, series.workspace) in (select (account, workspace) from namesakes)
),
billed_months as materialized (
  select series_id, usage_month
  from ledger.hourly_costs_at_close
  where cost is not null
  union
  select hourly_costs.series_id, cast(date_trunc('month', hourly_costs.bucket_start) as date)
  from ledger.hourly_costs_loaded as hourly_costs
  anti join ledger.hourly_costs_at_close as at_close
    on at_close.series_id = hourly_costs.series_id and at_close.bucket_start = hourly_costs.bucket_start
  where hourly_costs.series_id in (select series_id from namesakes)
)
select
  namesakes.series_id, --: Series under the new name
  was_billed.usage_month, --: First day of the closed month, UTC
  max(namesakes.was_series_id) as was_series_id --: Series under the old name, which the month billed
from namesakes
join billed_months as was_billed on was_billed.series_id = namesakes.was_series_id
-- A workspace of which no cost is left was renamed.
anti join costing on costing.account = namesakes.account and costing.workspace = namesakes.workspace
anti join billed_months
  on billed_months.series_id = namesakes.series_id and billed_months.usage_month = was_billed.usage_month
group by namesakes.series_id, was_billed.usage_month;
