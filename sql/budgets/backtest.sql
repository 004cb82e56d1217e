--! about: Spend of a budget's periods as known at the end of each day on which it changed, in one pass over costs and
--! about: restatements. The load number shows when a value was known. Hours from before the account's first load count as
--! about: known $lag_hours after their hour. Labels and owners are the current ones of each hour; of shared cost, an owner
--! about: has its share of the whole month, each amount rounded to a trillionth. With $of_usage, usage
--! about: instead of costs.
--! grain: period_start, known_day
with
--! include: scopes
--! include: series_in_scopes
scope_kinds as not materialized (select cast($has_label as boolean) as has_label, cast($has_owner as boolean) as has_owner),
--! include: hours_in_scopes
periods as (
  select cast(period.start as timestamp) as period_start
  from (select unnest(from_json($periods, '[{"start": "VARCHAR"}]')) as period)
),
members as (
  select series_id, account, from_time, to_time, parts, all_parts
  from hours_in_scopes
  union all
  select series_id, account, cast('-infinity' as timestamp), cast('infinity' as timestamp), 1, 1
  from series_in_scopes
  where label is null and owner is null
),
first_seen as (
  select account, min(seen_at) as first_seen_at
  from ledger.loads
  group by account
),
restated as (
  select
    series_id, bucket_start, old_load_number, load_number,
    case when cast($of_usage as boolean) then cast(old_usage as decimal(38, 12)) else old_cost end as old_cost
  from ledger.restatements
  semi join members using (series_id)
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
),
-- As of a load, the books hold everything written up to it, minus everything replaced up to it.
written as (
  select
    series_id, bucket_start, load_number,
    case when cast($of_usage as boolean) then cast(usage as decimal(38, 12)) else cost end as cost
  from ledger.hourly_costs
  semi join members using (series_id)
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  union all
  select series_id, bucket_start, old_load_number, old_cost
  from restated
  where old_load_number is not null and old_cost is not null
),
changes as (
  select
    written.series_id,
    written.bucket_start,
    written.load_number,
    written.cost,
    -- Rows that a load wrote without a restatement were new.
    not exists (
      select 1
      from restated
      where restated.series_id = written.series_id
        and restated.bucket_start = written.bucket_start
        and restated.load_number = written.load_number
    ) as is_first
  from written
  union all
  select series_id, bucket_start, load_number, -old_cost, false
  from restated
  where old_load_number is not null and old_cost is not null
),
known as (
  select
    changes.bucket_start,
    --! include: part_of_cost
    as cost,
    --! include: known_at
    as known_at
  from changes
  join members
    on members.series_id = changes.series_id
    and members.from_time <= changes.bucket_start
    and members.to_time > changes.bucket_start
  join (select load_number, seen_at from ledger.loads) as loads using (load_number)
  join first_seen on first_seen.account = members.account
),
by_day as (
  select
    periods.period_start,
    --! include: known_day
    as known_day,
    sum(known.cost) as cost
  from known
  asof join periods on known.bucket_start >= periods.period_start
  where known.known_at <= cast($now as timestamp)
  group by periods.period_start, known_day
)
select
  epoch_ms(period_start) as period_start,
  epoch_ms(known_day) as known_day,
  cast(sum(cost) over (partition by period_start order by known_day) as decimal(38, 12)) as cost
from by_day
order by period_start, known_day
