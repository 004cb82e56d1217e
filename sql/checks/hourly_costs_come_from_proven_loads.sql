--! about: Every hourly cost belongs to a load of its account and hour, and every comparison of that load passed.
--! severity: fail
--! hours: by month
-- Sum by series number first: joining the account to every hour would take longer than everything else.
with of_series as (
  select
    series_id,
    load_number,
    count(*) as row_count,
    sum(cost) as cost,
    min(bucket_start) as first_hour,
    max(bucket_start) as last_hour
  from ledger.hourly_costs
  group by series_id, load_number
),
written as (
  select
    series.account,
    of_series.load_number,
    sum(of_series.row_count) as row_count,
    sum(of_series.cost) as cost,
    min(of_series.first_hour) as first_hour,
    max(of_series.last_hour) as last_hour
  from of_series
  join (select distinct series_id, account from ledger.series) as series using (series_id)
  group by series.account, of_series.load_number
),
proven_loads as (
  select load_number, count(*) as comparisons, count(*) filter (not proven) as unproven
  from ledger.reconciliation
  where load_number is not null
  group by load_number
),
-- Hours of a lost load: a later load fetched them again and proved them.
restored as (
  select
    covered.account,
    covered.since_load as load_number,
    max(proven_loads.comparisons) as comparisons,
    max(proven_loads.unproven) as unproven,
    min(covered.window_start) as window_start,
    max(covered.window_end) as window_end
  from ledger.covered as covered
  join proven_loads using (load_number)
  where covered.since_load < covered.load_number
  group by covered.account, covered.since_load
),
judged as (
  select
    written.account,
    written.load_number,
    written.row_count,
    written.cost,
    case
      when loads.load_number is null and restored.load_number is null then 'the load does not exist'
      when written.first_hour < least(loads.window_start, restored.window_start)
        or written.last_hour >= greatest(loads.window_end, restored.window_end)
        then 'the load covers other hours'
      when coalesce(restored.comparisons, proven_loads.comparisons) is null then 'the load has no comparison'
      when greatest(restored.unproven, proven_loads.unproven) > 0
        then greatest(restored.unproven, proven_loads.unproven) || ' comparisons failed'
    end as reason
  from written
  left join ledger.loads as loads
    on loads.load_number = written.load_number and loads.account = written.account
  left join proven_loads on proven_loads.load_number = written.load_number
  left join restored on restored.load_number = written.load_number and restored.account = written.account
)
select account, load_number, row_count, cost, reason
from judged
where reason is not null
order by account, load_number
