--! about: What was billed for the month, by hour or day, in FOCUS columns for finance tools?
--! for: finance
--! grain: BillingAccountId, ChargePeriodStart, ChargeClass, ChargeCategory, SubAccountId, x_ResourceTypeRaw,
--! grain: x_ResourceName, x_ResourceUuid, x_BillingDimension, Tags
--! params: month month = last-complete, focus_version text = 1.4, deprecated_columns boolean = false,
--! params: grain text = hourly, provider text = Cloud Workload Platform, account_name text = *
--! cost: BilledCost
--! top: BilledCost
--! important: ResourceName, BilledCost, ChargePeriodStart, SubAccountName, ConsumedQuantity, ConsumedUnit
-- All columns of all supported versions, in alphabetical order, then our own (x_). src/reports/questions/focus.ts lists the columns
-- of each version. What the platform does not report is null, with the type of its column.
with hours as (
  select series_id, billing_month, charge_class, bucket_start, cost, usage
  from costs_billed
  where billing_month = cast($month as date)
    -- Rows without a charge class are billed in the month of their hour, so these bounds limit what is read.
    and (
      charge_class is not null
      or (bucket_start >= cast($month as timestamp) and bucket_start < cast($month as timestamp) + interval 1 month)
    )
    -- Hours without cost and usage are padding, even as corrections.
    and (cost <> 0 or usage <> 0)
),
resource_states as not materialized (select * from ledger.resources_of_series),
--! include: focus_charges
charges_in_order as not materialized (select * from charges),
--! include: focus_columns
