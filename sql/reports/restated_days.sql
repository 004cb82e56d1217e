--! about: Which costs did the platform change after they were loaded: by how much, and when did Costbook find it?
--! for: checking
--! grain: account, usage_date, workspace, billing_dimension, unit, seen_at
--! params: month month = none, from date = none, to date = none
--! top: usage_date, cost_change
--! important: usage_date, cost_change, workspace, billing_dimension, old_cost, new_cost, seen_at, account
-- month selects by the hours that changed; from and to select by when the change was seen.
with changes as (
  select
    account,
    bucket_start,
    workspace,
    billing_dimension,
    seen_at,
    -- If a series had no row in the hour, the hour was still loaded: its cost was 0, not unknown.
    coalesce(old_cost, 0) as old_cost,
    coalesce(new_cost, 0) as new_cost,
    coalesce(old_usage, 0) as old_usage,
    coalesce(new_usage, 0) as new_usage
  from restatements
  where (
      $month is null
      or (
        bucket_start >= cast($month as date) and bucket_start < cast($month as date) + interval 1 month
      )
    )
    and ($from is null or seen_at >= cast($from as date))
    and ($to is null or seen_at < cast($to as date))
),
units as (
  select distinct billing_dimension, unit
  from series
),
first_reported as (
  select hours.account, hours.bucket_start, min(loads.seen_at) as first_reported_at
  from (select distinct account, bucket_start from changes) as hours
  join ledger.loads as loads
    on loads.account = hours.account
    and loads.window_start <= hours.bucket_start
    and loads.window_end > hours.bucket_start
  group by hours.account, hours.bucket_start
)
select
  changes.account,
  cast(changes.bucket_start as date) as usage_date,
  changes.workspace,
  changes.billing_dimension,
  units.unit,
  changes.seen_at,
  min(first_reported.first_reported_at) as first_reported_at,
  count(*) as changes,
  cast(sum(changes.old_usage) as decimal(38, 6)) as old_usage,
  cast(sum(changes.new_usage) as decimal(38, 6)) as new_usage,
  cast(sum(changes.new_usage - changes.old_usage) as decimal(38, 6)) as usage_change,
  cast(sum(changes.old_cost) as decimal(38, 12)) as old_cost,
  cast(sum(changes.new_cost) as decimal(38, 12)) as new_cost,
  cast(sum(changes.new_cost - changes.old_cost) as decimal(38, 12)) as cost_change
from changes
left join first_reported
  on first_reported.account = changes.account and first_reported.bucket_start = changes.bucket_start
left join units on units.billing_dimension = changes.billing_dimension
group by changes.account, usage_date, changes.workspace, changes.billing_dimension, units.unit, changes.seen_at
