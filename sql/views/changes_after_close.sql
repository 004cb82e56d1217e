--! about: Every change to an hour of a closed month that was seen after the close.
--! grain: series_id, bucket_start, load_number
-- Internal: public views build on it.
create or replace view ledger.changes_after_close as
with
-- The month after the last closed one, the first open one, bills a change seen after the last close.
billing_loads as (
  select billing_month, after_load, through_load
  from ledger.closed_months
  union all
  select cast(max(billing_month) + interval 1 month as date), max(through_load), 9223372036854775807
  from ledger.closed_months
  having count(*) > 0
),
-- Hours of a closed month that were not in the books at its close: the account was added later, or its books now start
-- earlier. Their first load restated nothing, so every one of their rows is a change.
covered_at_close as (
  select
    covered.account,
    closed_months.billing_month,
    sum(
      epoch(least(covered.window_end, closed_months.billing_month + interval 1 month))
      - epoch(greatest(covered.window_start, closed_months.billing_month))
    ) as seconds
  from ledger.closed_months as closed_months
  join ledger.covered as covered
    on covered.since_load <= closed_months.through_load
    and (covered.replaced_by is null or covered.replaced_by > closed_months.through_load)
    and covered.window_start < closed_months.billing_month + interval 1 month
    and covered.window_end > closed_months.billing_month
  group by covered.account, closed_months.billing_month
),
whole_at_close as (
  select account, billing_month
  from covered_at_close
  where seconds = epoch(billing_month + interval 1 month) - epoch(billing_month)
),
late_loads as (
  select loads.load_number, closed_months.billing_month
  from ledger.loads as loads
  join ledger.closed_months as closed_months
    on loads.load_number > closed_months.through_load
    and loads.window_start < closed_months.billing_month + interval 1 month
    and loads.window_end > closed_months.billing_month
  anti join whole_at_close
    on whole_at_close.account = loads.account and whole_at_close.billing_month = closed_months.billing_month
),
written_late as (
  select hourly_costs.series_id, hourly_costs.bucket_start, hourly_costs.load_number, hourly_costs.cost, hourly_costs.usage
  from ledger.hourly_costs_loaded as hourly_costs
  join late_loads
    on late_loads.load_number = hourly_costs.load_number
    and late_loads.billing_month = date_trunc('month', hourly_costs.bucket_start)
  union all
  select
    restatements.series_id, restatements.bucket_start, restatements.old_load_number,
    restatements.old_cost, restatements.old_usage
  from ledger.restatements as restatements
  join late_loads
    on late_loads.load_number = restatements.old_load_number
    and late_loads.billing_month = date_trunc('month', restatements.bucket_start)
),
changes as (
  select
    restatements.series_id, restatements.bucket_start, restatements.load_number,
    restatements.old_cost, restatements.new_cost, restatements.old_usage, restatements.new_usage,
    closed_months.billing_month as usage_month
  from ledger.restatements as restatements
  join ledger.closed_months as closed_months
    on closed_months.billing_month = date_trunc('month', restatements.bucket_start)
    and closed_months.through_load < restatements.load_number
  union all
  select
    written_late.series_id, written_late.bucket_start, written_late.load_number,
    null, written_late.cost, null, written_late.usage,
    cast(date_trunc('month', written_late.bucket_start) as date)
  from written_late
  anti join ledger.restatements as restatements
    on restatements.series_id = written_late.series_id
    and restatements.bucket_start = written_late.bucket_start
    and restatements.load_number = written_late.load_number
)
select
  changes.series_id, --: Series
  changes.bucket_start, --: Start of the hour that changed, UTC
  changes.load_number, --: Load that found the change
  changes.usage_month, --: First day of the closed month that contains the hour, UTC
  billing_loads.billing_month, --: First day of the month that bills the change, UTC
  changes.old_cost,
  changes.new_cost,
  changes.old_usage,
  changes.new_usage
from changes
join billing_loads
  on changes.load_number > billing_loads.after_load and changes.load_number <= billing_loads.through_load;
