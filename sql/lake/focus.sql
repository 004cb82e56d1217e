--! about: What was billed, by day, in the columns of FOCUS.
--! grain: BillingAccountId, ChargeCategory, ChargeClass, SubAccountId, x_ResourceTypeRaw, x_ResourceName, x_ResourceUuid,
--! grain: x_BillingDimension, ChargePeriodStart, Tags
--! partition: account, month
--! cost: BilledCost
--! joins: in order
--! follows: hours, closes, states, accounts
--! figures: billed
select * exclude (ProviderName, PublisherName) from (
with
hours as (
  select billed.series_id, cast($start as date) as billing_month, billed.charge_class, billed.bucket_start, billed.cost, billed.usage
  from (
    --! include: billed_hours_of_partition
  ) as billed
  join (select series_id from lake_series where account = $account) as ours using (series_id)
  where billed.cost <> 0 or billed.usage <> 0
),
resource_states as (select * from lake_states),
--! include: focus_charges
-- Sorted before the columns are added: sorting all columns of FOCUS takes several times the memory.
charges_in_order as not materialized (
  select charges.*
  from charges
  join (select series_id, place from lake_series) as ordered using (series_id)
  left join (select series_id, from_time, tags from states) as tagged
    on tagged.series_id = charges.series_id and tagged.from_time = charges.state
  order by charges.charge_class nulls first, ordered.place, charges.period_start, tagged.tags
),
--! include: focus_columns
) as charges
where BillingAccountId = $account
