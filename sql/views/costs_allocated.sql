--! about: Cost and usage by hour and owner, by the current allocation rules. Each row of costs appears once, or once
--! about: per owner if its cost is shared; the sums equal those of costs.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, owner
create or replace view costs_allocated as
with
--! include: few_owners
shares as materialized (
  with
  --! include: shares_of_owners
),
unsplit_hours as not materialized (select series_id, bucket_start, cost, usage from ledger.hourly_costs),
--! include: split_costs
-- Each part has its names before the parts are put together: DuckDB guesses that the whole has few rows, and would keep
-- all of them in memory to join their names.
allocated as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    series.billing_dimension,
    series.unit,
    hourly_costs.series_id,
    hourly_costs.bucket_start,
    owners.rule,
    owners.owner,
    owners.team,
    owners.product,
    owners.environment,
    false as is_shared,
    hourly_costs.cost,
    hourly_costs.usage
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join series on series.series_id = owners.series_id
  where not owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  union all
  select
    series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid,
    series.billing_dimension, series.unit, series_id, split.bucket_start, split.rule, split.owner, split.team,
    split.product, split.environment, true, split.cost, split.usage
  from split
  join series using (series_id)
)
select
  account,
  bucket_start,
  bucket_start + interval 1 hour as bucket_end,
  series_id,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  owner, --: Owner of the cost: a JSON object with the rules' dimensions in order, each a text or null
  team,
  product,
  environment,
  rule, --: Allocation rule that applied: the first one that matched; default if none did
  is_shared, --: Whether a rule splits this cost over owners; if so, cost and usage are this owner's share
  cost,
  usage
from allocated;
