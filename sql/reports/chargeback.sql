--! about: What is each owner charged for the month, by billing dimension: direct and shared cost?
--! for: teams
--! grain: account, month, owner, billing_dimension, unit
--! params: month month = last-complete, account text = *, dimension text = *
--! totals: direct_cost, shared_cost, correction_cost, invoice_difference, billed_cost
--! top: cost
--! important: team, billed_cost, cost, billing_dimension, correction_cost, product, environment, shared_cost, direct_cost,
--! important: invoice_difference, account, month, billed_later
-- With a dimension (team, or one of your own), owners are grouped by that dimension only. Every cost is in exactly one row
-- or split across several, so the cost column adds up to the month's total. correction_cost has the corrections of earlier
-- closed months that the month bills, for the owners of the corrected hours. invoice_difference is what an invoice bills
-- beyond both: a row of its own without an owner. billed_cost adds up to what the month bills, also with --as-of now:
-- billed_later is the part of cost that a closed month did not bill, because it was seen after the close and a later month
-- bills it.
with added_up as (
  select series_id, owner, is_shared, sum(cost) as cost, sum(usage) as usage
  from ledger.hours_allocated
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
  group by series_id, owner, is_shared
),
charged as (
  select
    series.account,
    added_up.owner,
    json_extract_string(added_up.owner, '/team') as team,
    json_extract_string(added_up.owner, '/product') as product,
    json_extract_string(added_up.owner, '/environment') as environment,
    series.billing_dimension,
    series.unit,
    added_up.is_shared,
    false as is_correction,
    false as is_later,
    sum(added_up.cost) as cost,
    sum(added_up.usage) as usage
  from added_up
  join series using (series_id)
  where ($account is null or series.account = $account)
  group by series.account, added_up.owner, series.billing_dimension, series.unit, added_up.is_shared
  union all
  select
    account, owner, team, product, environment, billing_dimension, unit, null, true,
    usage_month = cast($month as date), sum(cost), sum(usage)
  from corrections_allocated
  where (billing_month = cast($month as date) or usage_month = cast($month as date))
    and ($account is null or account = $account)
  group by account, owner, team, product, environment, billing_dimension, unit, usage_month = cast($month as date)
),
owned as (
  select
    account,
    case
      when $dimension is null then cast(owner as varchar)
      else '{' || to_json(cast($dimension as varchar)) || ':'
        || coalesce(
          to_json(json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1'))), 'null'
        ) || '}'
    end as owner,
    team, product, environment, billing_dimension, unit, is_shared, is_correction, is_later, cost, usage,
    null as invoice_difference
  from charged
  union all
  -- Nobody owns what the platform's invoice bills beyond the costs.
  select account, null, null, null, null, null, null, null, null, null, null, null, invoice_difference
  from closes
  where is_closed
    and invoiced is not null
    and billing_month = cast($month as date)
    and ($account is null or account = $account)
)
select
  account,
  cast($month as date) as month,
  owner,
  case when coalesce($dimension, 'team') = 'team' then team end as team,
  case when coalesce($dimension, 'product') = 'product' then product end as product,
  case when coalesce($dimension, 'environment') = 'environment' then environment end as environment,
  billing_dimension,
  unit,
  cast(coalesce(sum(usage) filter (not is_correction and not is_shared), 0) as decimal(38, 6)) as direct_usage,
  cast(coalesce(sum(usage) filter (not is_correction and is_shared), 0) as decimal(38, 6)) as shared_usage,
  cast(coalesce(sum(cost) filter (not is_correction and not is_shared), 0) as decimal(38, 12)) as direct_cost,
  cast(coalesce(sum(cost) filter (not is_correction and is_shared), 0) as decimal(38, 12)) as shared_cost,
  cast(coalesce(sum(cost) filter (not is_correction), 0) as decimal(38, 12)) as cost,
  cast(coalesce(sum(usage) filter (is_correction and not is_later), 0) as decimal(38, 6)) as correction_usage,
  cast(coalesce(sum(cost) filter (is_correction and not is_later), 0) as decimal(38, 12)) as correction_cost,
  cast(sum(invoice_difference) as decimal(38, 12)) as invoice_difference,
  cast(
    coalesce(sum(case when is_later then -cost else cost end), 0) + coalesce(sum(invoice_difference), 0) as decimal(38, 12)
  ) as billed_cost,
  cast(coalesce(sum(cost) filter (is_later), 0) as decimal(38, 12)) as billed_later
from owned
group by all
