--! about: Closed months that no longer have the rows and the cost of their close, by account, with every month that must be
--! about: reopened to close them again: none while hours of the close are missing, which an ingest fetches again. Only
--! about: hours from $start until $end are read.
--! grain: account, month
with own as (
  select series.account, billed.billing_month, count(*) as row_count, sum(billed.cost) as cost
  from hourly_costs_billed as billed
  join ledger.series as series using (series_id)
  where billed.bucket_start >= cast($start as timestamp) and billed.bucket_start < cast($end as timestamp)
  group by series.account, billed.billing_month
),
corrected as (
  select account, billing_month, count(*) as row_count, sum(cost) as cost
  from corrections
  group by account, billing_month
),
closed as (
  select billing_month, account, row_count, cost, corrections, correction_cost
  from closes
  where is_closed and billing_month >= cast($start as timestamp) and billing_month < cast($end as timestamp)
),
hours_at_close as (
  select billing_month, account, sum(epoch(window_end) - epoch(window_start)) as seconds
  from (
    select
      billing_month,
      account,
      unnest(from_json(covered, '[{"window_start": "TIMESTAMP", "window_end": "TIMESTAMP"}]'), recursive := true)
    from ledger.closes
    where reopened_at is null and covered is not null
  )
  group by billing_month, account
),
hours_now as (
  select
    hours_at_close.billing_month,
    hours_at_close.account,
    sum(
      epoch(least(covered.window_end, hours_at_close.billing_month + interval 1 month))
      - epoch(greatest(covered.window_start, hours_at_close.billing_month))
    ) as seconds
  from hours_at_close
  join ledger.covered as covered
    on covered.account = hours_at_close.account
    and covered.replaced_by is null
    and covered.window_start < hours_at_close.billing_month + interval 1 month
    and covered.window_end > hours_at_close.billing_month
  group by hours_at_close.billing_month, hours_at_close.account
),
missing as (
  select hours_at_close.billing_month, hours_at_close.account
  from hours_at_close
  left join hours_now using (billing_month, account)
  where hours_at_close.seconds > coalesce(hours_now.seconds, 0)
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
  cast(cast(coalesce(own.cost, 0) + coalesce(corrected.cost, 0) as decimal(38, 12)) as varchar) as cost,
  cast(
    cast(
      coalesce(own.cost, 0) + coalesce(corrected.cost, 0) - expected.cost - expected.correction_cost as decimal(38, 12)
    ) as varchar
  ) as difference,
  case
    when missing.account is null
      then (
        select string_agg(strftime(billing_month, '%Y-%m'), ',' order by billing_month)
        from ledger.closed_months
        where closed_months.billing_month >= expected.billing_month
      )
  end as reopen
from expected
left join missing on missing.billing_month = expected.billing_month and missing.account = expected.account
left join own on own.billing_month = expected.billing_month and own.account = expected.account
left join corrected on corrected.billing_month = expected.billing_month and corrected.account = expected.account
where expected.row_count <> coalesce(own.row_count, 0)
  or expected.cost <> coalesce(own.cost, 0)
  or expected.corrections <> coalesce(corrected.row_count, 0)
  or expected.correction_cost <> coalesce(corrected.cost, 0)
order by expected.account, expected.billing_month
