--! about: The months, within a window of whole and complete months, to compare with the platform's monthly totals:
--! about: never proven, failed at the last attempt, changed since, or with contradictory totals.
with months as (
  select unnest(
    generate_series(
      cast($window_start as timestamp), cast($window_end as timestamp) - interval 1 month, interval 1 month
    )
  ) as month_start
),
readings as (
  select window_start as month_start, run_number, attempt, bool_and(proven) as proven
  from ledger.reconciliation
  where account = $account
    and window_start >= cast($window_start as timestamp)
    and window_end <= cast($window_end as timestamp)
    and check_code in ('month_matches_platform', 'month_dimension_matches_platform')
  group by window_start, run_number, attempt
),
-- A run fetches monthly totals after its loads, so it compared what it loaded.
last_readings as (
  select
    month_start,
    arg_max(proven, (run_number, attempt)) as proven,
    (
      select coalesce(max(load_number), 0)
      from ledger.loads
      where loads.run_number <= max(readings.run_number)
    ) as last_load
  from readings
  group by month_start
),
-- A complete month changes through restatements only, or if lost hours were fetched again.
changed as (
  select distinct date_trunc('month', restatements.bucket_start) as month_start
  from ledger.restatements as restatements
  join last_readings on last_readings.month_start = date_trunc('month', restatements.bucket_start)
  where restatements.account = $account and restatements.load_number > last_readings.last_load
  union
  select last_readings.month_start
  from last_readings
  join ledger.covered as covered
    on covered.account = $account
    and covered.load_number > last_readings.last_load
    and covered.since_load < covered.load_number
    and covered.window_start < last_readings.month_start + interval 1 month
    and covered.window_end > last_readings.month_start
),
contradicted as (
  select distinct months.month_start
  from months
  join ledger.contradictions as contradictions
    on contradictions.window_start < months.month_start + interval 1 month
    and contradictions.window_end > months.month_start
  where contradictions.account = $account and contradictions.question = 'months_by_month'
)
select epoch_ms(month_start) as month_start, epoch_ms(month_start + interval 1 month) as month_end
from months
left join last_readings using (month_start)
where last_readings.proven is distinct from true
  or month_start in (select month_start from changed)
  or month_start in (select month_start from contradicted)
order by month_start;
