--! about: Cost and usage by hour and owner: every row of costs with its owner; a shared cost has one row per owner.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, owner
create or replace view costs_allocated as
with
owners as materialized (select * from ledger.allocation_owners),
shares as materialized (select * from ledger.allocation_shares),
shared as (
  select
    owners.rule_number,
    owners.rule,
    owners.owner,
    series.account,
    hourly_costs.series_id,
    hourly_costs.bucket_start,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    hourly_costs.cost,
    hourly_costs.usage,
    cast(cast(hourly_costs.cost as decimal(38, 12)) * 1000000000000 as hugeint) as cost_units,
    cast(cast(hourly_costs.usage as decimal(38, 6)) * 1000000 as hugeint) as usage_units
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
),
-- An owner's part of an hour is the difference of two running totals: the share of all owners up to this one in all
-- hours up to this one. So the owners of an hour add up to the hour, and the hours of an owner add up to its share of
-- the month, both exactly: the totals of the last owner and of the last hour are known whole numbers. Totals in between
-- are proportions. Rounding them by a trillionth changes no sum, so doubles are exact enough, and many times faster
-- than 38-digit division.
in_order as (
  select
    *,
    cast(sum(cost_units) over up_to as hugeint) as through,
    cast(sum(cost_units) over up_to as hugeint) - cost_units as before,
    lead(series_id) over (partition by rule_number, account, usage_month order by bucket_start, series_id) is null
      as is_last
  from shared
  window up_to as (
    partition by rule_number, account, usage_month order by bucket_start, series_id
    rows between unbounded preceding and current row
  )
),
--! include: proportions
split as (
  select
    in_order.series_id,
    in_order.bucket_start,
    in_order.rule,
    coalesce(proportions.owner, in_order.owner) as owner,
    proportions.team,
    proportions.product,
    proportions.environment,
    case
      when proportions.owner is null then in_order.cost
      else cast(
        cast(
          --! include: part_of_shared_cost
          as decimal(38, 0)
        ) * 0.000000000001 as decimal(18, 12)
      )
    end as cost,
    case
      when proportions.owner is null then in_order.usage
      else cast(
        cast(
          case
            when proportions.is_last_owner then in_order.usage_units
            else cast(round(in_order.usage_units * proportions.ratio_through) as hugeint)
          end
          - case when proportions.is_after_all then in_order.usage_units else cast(round(in_order.usage_units * proportions.ratio_before) as hugeint) end
          as decimal(38, 0)
        ) * 0.000001 as decimal(18, 6)
      )
    end as usage
  from in_order
  left join proportions
    on proportions.rule_number = in_order.rule_number
    and proportions.account = in_order.account
    and proportions.usage_month = in_order.usage_month
),
allocated as (
  select
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
  where not owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  union all
  select series_id, bucket_start, rule, owner, team, product, environment, true, cost, usage
  from split
)
select
  series.account,
  allocated.bucket_start,
  allocated.bucket_start + interval 1 hour as bucket_end,
  allocated.series_id,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  allocated.owner,
  allocated.team,
  allocated.product,
  allocated.environment,
  allocated.rule,
  allocated.is_shared,
  allocated.cost,
  allocated.usage
from allocated
join series using (series_id);
comment on view costs_allocated is 'Cost and usage by hour and owner, by the current allocation rules. Each row of costs appears once, or once per owner if its cost is shared; the sums equal those of costs';
comment on column costs_allocated.account is 'Billing account';
comment on column costs_allocated.bucket_start is 'Start of the hour, UTC';
comment on column costs_allocated.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs_allocated.series_id is 'Number of the series; view series has its names';
comment on column costs_allocated.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs_allocated.resource_type is 'Resource type, as the platform names it';
comment on column costs_allocated.resource_name is 'Resource name';
comment on column costs_allocated.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs_allocated.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs_allocated.unit is 'Unit of usage; null if unknown';
comment on column costs_allocated.owner is 'Owner of the cost: a JSON object with the rules'' dimensions in order, each a text or null';
comment on column costs_allocated.team is 'Team of the owner; null if it has none';
comment on column costs_allocated.product is 'Product of the owner; null if it has none';
comment on column costs_allocated.environment is 'Environment of the owner; null if it has none';
comment on column costs_allocated.rule is 'Allocation rule that applied: the first one that matched; default if none did';
comment on column costs_allocated.is_shared is 'Whether a rule splits this cost over owners; if so, cost and usage are this owner''s share';
comment on column costs_allocated.cost is 'Cost in USD';
comment on column costs_allocated.usage is 'Usage, in the unit of column unit';
