--! about: What is each owner charged for the month, by billing dimension: direct and shared cost?
--! grain: account, month, owner, billing_dimension, unit
--! params: month month = last-complete, account text = *, dimension text = *
--! totals: direct_cost, shared_cost
--! formats: csv, parquet
--! top: cost
--! important: team, cost, billing_dimension, product, environment, shared_cost, direct_cost, account, month
-- With a dimension (team, or one of your own), owners are grouped by that dimension only. Every cost is in exactly one row
-- or split across several, so the cost column adds up to the month's total.
with owned as (
  select
    account,
    case
      when $dimension is null then owner
      else '{' || to_json(cast($dimension as varchar)) || ':' || coalesce(to_json(json_extract_string(owner, '/' || $dimension)), 'null') || '}'
    end as owner,
    team,
    product,
    environment,
    billing_dimension,
    unit,
    is_shared,
    sum(cost) as cost,
    sum(usage) as usage
  from costs_allocated
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
    and ($account is null or account = $account)
  group by account, owner, team, product, environment, billing_dimension, unit, is_shared
)
select
  account,
  cast($month as date) as month,
  cast(owner as varchar) as owner,
  case when coalesce($dimension, 'team') = 'team' then team end as team,
  case when coalesce($dimension, 'product') = 'product' then product end as product,
  case when coalesce($dimension, 'environment') = 'environment' then environment end as environment,
  billing_dimension,
  unit,
  cast(coalesce(sum(usage) filter (not is_shared), 0) as decimal(38, 6)) as direct_usage,
  cast(coalesce(sum(usage) filter (is_shared), 0) as decimal(38, 6)) as shared_usage,
  cast(coalesce(sum(cost) filter (not is_shared), 0) as decimal(38, 12)) as direct_cost,
  cast(coalesce(sum(cost) filter (is_shared), 0) as decimal(38, 12)) as shared_cost,
  cast(sum(cost) as decimal(38, 12)) as cost
from owned
group by all
