--! about: Spend of a budget's periods as known at the end of each day on which it changed, in one pass over costs and
--! about: restatements. The load number shows when a value was known. Hours from before the account's first load count as
--! about: known $lag_hours after their hour. Labels and owners are the current ones of each hour; of shared cost, an owner
--! about: has its share of the whole month, each amount rounded to a trillionth of a dollar.
--! grain: period_start, known_day
with scope as (
  select
    from_json(
      $scope,
      '{"account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"], "resource_name": ["VARCHAR"],
        "billing_dimension": ["VARCHAR"], "label": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}],
        "owner": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}]}'
    ) as scope
),
periods as (
  select cast(period.start as timestamp) as period_start
  from (select unnest(from_json($periods, '[{"start": "VARCHAR"}]')) as period)
),
fitting_series as (
  select series.series_id, series.account
  from scope
  join series
    on (scope.account is null or list_contains(scope.account, series.account))
    and (scope.workspace is null or list_contains(scope.workspace, series.workspace))
    and (scope.resource_type is null or list_contains(scope.resource_type, series.resource_type))
    and (scope.billing_dimension is null or list_contains(scope.billing_dimension, series.billing_dimension))
    and (
      scope.resource_name is null
      or len(list_filter(scope.resource_name, lambda pattern: series.resource_name like pattern escape '\')) > 0
    )
),
-- The hours of a series that belong to the budget: in full, or a share of parts / all_parts.
members as (
  select
    series_id,
    account,
    cast('-infinity' as timestamp) as from_time,
    cast('infinity' as timestamp) as to_time,
    1 as parts,
    1 as all_parts
  from fitting_series
  where not $has_label and not $has_owner
  union all
  select fitting_series.series_id, fitting_series.account, resources.from_time, resources.to_time, 1, 1
  from scope
  join ledger.resources_of_series as resources
    on $has_label
    and len(
      list_filter(
        scope.label,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(resources.labels, entry.pointer)), false)
      )
    ) = len(scope.label)
  join fitting_series using (series_id)
  union all
  select fitting_series.series_id, fitting_series.account, owners.from_time, owners.to_time, 1, 1
  from scope
  join ledger.allocation_owners as owners
    on $has_owner
    and not owners.is_split
    and len(
      list_filter(
        scope.owner,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(owners.owner, entry.pointer)), false)
      )
    ) = len(scope.owner)
  join fitting_series using (series_id)
  union all
  select
    fitting_series.series_id,
    fitting_series.account,
    greatest(owners.from_time, cast(shares.usage_month as timestamp)),
    least(owners.to_time, shares.usage_month + interval 1 month),
    shares.parts_through - shares.parts_before,
    shares.all_parts
  from scope
  join ledger.allocation_shares as shares
    on $has_owner
    and len(
      list_filter(
        scope.owner,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(shares.owner, entry.pointer)), false)
      )
    ) = len(scope.owner)
  join ledger.allocation_owners as owners on owners.is_split and owners.rule_number = shares.rule_number
  join fitting_series on fitting_series.series_id = owners.series_id and fitting_series.account = shares.account
),
first_seen as (
  select account, min(seen_at) as first_seen_at
  from ledger.loads
  group by account
),
restated as (
  select series_id, bucket_start, old_cost, old_load_number, load_number
  from ledger.restatements
  semi join members using (series_id)
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
),
-- As of a load, the books hold everything written up to it, minus everything replaced up to it.
written as (
  select series_id, bucket_start, load_number, cost
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
    case
      when members.parts = members.all_parts then changes.cost
      else cast(cast(changes.cost as double) * members.parts / members.all_parts as decimal(18, 12))
    end as cost,
    case
      when changes.is_first and changes.bucket_start + interval 1 hour <= first_seen.first_seen_at
        then least(loads.seen_at, changes.bucket_start + to_hours(cast($lag_hours as bigint) + 1))
      else loads.seen_at
    end as known_at
  from changes
  join members
    on members.series_id = changes.series_id
    and members.from_time <= changes.bucket_start
    and members.to_time > changes.bucket_start
  join ledger.loads as loads using (load_number)
  join first_seen on first_seen.account = members.account
),
by_day as (
  select
    periods.period_start,
    -- The first end of a day, or now, at which it was known, inclusive.
    least(
      case
        when date_trunc('day', known.known_at) = known.known_at then known.known_at
        else date_trunc('day', known.known_at) + interval 1 day
      end,
      cast($now as timestamp)
    ) as known_day,
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
