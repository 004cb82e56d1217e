--! about: Corrections of closed months by the owner of the corrected hour, by the rules that were active when its month
--! about: was closed, in the month that bills them. Each row of corrections appears once, or once per owner if its cost
--! about: is shared; the sums equal those of corrections.
--! grain: account, billing_month, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, owner
-- A correction of shared cost is split as that month's shared cost: its weights are the direct costs at the close, so a
-- split does not move when somebody else's cost is corrected.
create or replace view corrections_allocated as
with
-- Whoever paid under the old name of a workspace has the corrections of the new one.
corrected as materialized (
  select corrections.*, coalesce(renamed.was_series_id, corrections.series_id) as charged_series_id
  from corrections
  left join ledger.renamed_series as renamed
    on renamed.series_id = corrections.series_id and renamed.usage_month = corrections.usage_month
),
owners as materialized (select * from ledger.owners_at_close),
rules as materialized (
  select rule_number, rule, split, dimensions from ledger.rules_at_close
  union all
  select distinct owners.rule_number, owners.rule, owners.mount_split, owners.mount_split.over
  from owners
  where owners.mount_split is not null
),
pool_hours as (
  select owners.rule_number, corrected.account, corrected.usage_month, corrected.cost, abs(corrected.cost) as size
  from corrected
  join owners on owners.series_id = corrected.charged_series_id
  where owners.is_split
    and corrected.bucket_start >= owners.from_time
    and corrected.bucket_start < owners.to_time
),
--! include: pools_by_month
direct_numbers as (
  select
    direct_series.series_id,
    direct_series.from_time,
    cast(date_trunc('month', billed.bucket_start) as date) as usage_month,
    sum(billed.cost) as cost,
    sum(billed.usage) as usage
  from hourly_costs_billed as billed
  join direct_series on direct_series.series_id = billed.series_id
  where billed.bucket_start >= direct_series.from_time
    and billed.bucket_start < direct_series.to_time
    and billed.bucket_start >= (select min(usage_month) from pools)
    and billed.bucket_start < (select max(usage_month) + interval 1 month from pools)
  group by direct_series.series_id, direct_series.from_time, usage_month
),
shares as (
  with
  --! include: shares_of_pools
),
--! include: proportions
owned as (
  select
    corrected.*,
    owners.rule_number,
    owners.rule,
    owners.owner,
    owners.is_split,
    cast(corrected.cost * 1000000000000 as hugeint) as cost_units,
    cast(corrected.usage * 1000000 as hugeint) as usage_units
  from corrected
  join owners on owners.series_id = corrected.charged_series_id
  where corrected.bucket_start >= owners.from_time
    and corrected.bucket_start < owners.to_time
),
-- As in costs_allocated: an owner's part is the difference of two running totals, so the parts of a correction add up to it.
allocated as (
  select
    owned.*,
    coalesce(proportions.owner, owned.owner) as charged_owner,
    case
      when proportions.owner is null then owned.cost_units
      else
        case
          when proportions.is_last_owner then owned.cost_units
          else cast(round(owned.cost_units * proportions.ratio_through) as hugeint)
        end
        - case
          when proportions.is_after_all then owned.cost_units
          else cast(round(owned.cost_units * proportions.ratio_before) as hugeint)
        end
    end as part_units,
    case
      when proportions.owner is null then owned.usage_units
      else
        case
          when proportions.is_last_owner then owned.usage_units
          else cast(round(owned.usage_units * proportions.ratio_through) as hugeint)
        end
        - case
          when proportions.is_after_all then owned.usage_units
          else cast(round(owned.usage_units * proportions.ratio_before) as hugeint)
        end
    end as part_usage_units
  from owned
  left join proportions
    on owned.is_split
    and proportions.rule_number = owned.rule_number
    and proportions.account = owned.account
    and proportions.usage_month = owned.usage_month
)
select
  account,
  billing_month, --: First day of the month that bills the correction, UTC
  usage_month, --: First day of the closed month that contains the hour, UTC
  bucket_start, --: Start of the hour that is corrected, UTC
  bucket_end,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  charged_owner as owner, --: Owner of the hour: a JSON object with the rules' dimensions in order, each a text or null
  json_extract_string(charged_owner, '/team') as team,
  json_extract_string(charged_owner, '/product') as product,
  json_extract_string(charged_owner, '/environment') as environment,
  rule, --: Allocation rule that applies to the hour
  is_split as is_shared, --: Whether a rule splits the cost over owners; if so, cost and usage are this owner's share
  cast(cast(part_units as decimal(38, 0)) * 0.000000000001 as decimal(38, 12)) as cost, --: Change in cost, USD; negative for a credit
  cast(cast(part_usage_units as decimal(38, 0)) * 0.000001 as decimal(38, 6)) as usage, --: Change in usage, in the unit of column unit
  series_id
from allocated;
