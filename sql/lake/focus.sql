--! about: What was billed, by day, in the columns of FOCUS.
--! grain: BillingAccountId, ChargeCategory, ChargeClass, SubAccountId, x_ResourceTypeRaw, x_ResourceName, x_ResourceUuid,
--! grain: x_BillingDimension, ChargePeriodStart, Tags
--! partition: account, month
--! cost: BilledCost
--! version: 1
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
) as charges
where BillingAccountId = $account
order by
  ChargeCategory, ChargeClass nulls first, SubAccountId, x_ResourceTypeRaw, x_ResourceName, x_ResourceUuid,
  x_BillingDimension, ChargePeriodStart, Tags
