--! about: Closed months that no longer have the rows and the cost of their close, by account, with every month that must be
--! about: reopened to close them again. Only hours from $start until $end are read.
--! grain: account, month
with own as (
  select series.account, billed.billing_month, count(*) as row_count, sum(billed.cost) as cost
  from hourly_costs_billed as billed
  join ledger.series as series using (series_id)
  where billed.bucket_start >= cast($start as timestamp) and billed.bucket_start < cast($end as timestamp)
  group by series.account, billed.billing_month
),
delivered as (
  select account, billing_month, count(*) as row_count, sum(cost) as cost
  from corrections
  group by account, billing_month
),
closed as (
  select billing_month, account, row_count, cost, corrections, correction_cost
  from closes
  where is_closed and billing_month >= cast($start as timestamp) and billing_month < cast($end as timestamp)
),
expected as (
  select billing_month, account, row_count, cost, corrections, correction_cost from closed
  union all
  select own.billing_month, own.account, 0, 0, 0, 0
  from own
  semi join closed on closed.billing_month = own.billing_month
  anti join closed on closed.billing_month = own.billing_month and closed.account = own.account
)
select
  expected.account,
  strftime(expected.billing_month, '%Y-%m') as month,
  cast(cast(expected.cost + expected.correction_cost as decimal(38, 12)) as varchar) as closed_cost,
  cast(cast(coalesce(own.cost, 0) + coalesce(delivered.cost, 0) as decimal(38, 12)) as varchar) as cost,
  cast(
    cast(
      coalesce(own.cost, 0) + coalesce(delivered.cost, 0) - expected.cost - expected.correction_cost as decimal(38, 12)
    ) as varchar
  ) as difference,
  (
    select string_agg(strftime(billing_month, '%Y-%m'), ',' order by billing_month)
    from ledger.closed_months
    where closed_months.billing_month >= expected.billing_month
  ) as reopen
from expected
left join own on own.billing_month = expected.billing_month and own.account = expected.account
left join delivered on delivered.billing_month = expected.billing_month and delivered.account = expected.account
where expected.row_count <> coalesce(own.row_count, 0)
  or expected.cost <> coalesce(own.cost, 0)
  or expected.corrections <> coalesce(delivered.row_count, 0)
  or expected.correction_cost <> coalesce(delivered.cost, 0)
order by expected.account, expected.billing_month
