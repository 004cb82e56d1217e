--! about: The last instants in the books, in milliseconds since 1970: of all, up to $after, and after it. Starts and
--! about: ends of runs and steps are separate: they are never moved after an earlier run's instants.
with seen as (
  select unnest([recorded_at, replaced_at]) as seen_at from ledger.accounts
  union all
  select recorded_at from ledger.claims_corrected
  union all
  select proven_at from ledger.reconciliation where load_number is null
  union all
  select seen_at from ledger.unproven
  union all
  select seen_at from ledger.contradictions
  union all
  select unnest([closed_at, reopened_at]) from ledger.closes
  union all
  select unnest([recorded_at, ended_at]) from ledger.resources
  union all
  select read_at from ledger.listings
  union all
  select unnest([recorded_at, replaced_at]) from ledger.allocations
  union all
  select unnest([raised_at, ended_at]) from ledger.alerts
  union all
  select unnest([recorded_at, replaced_at]) from ledger.anomalies
  union all
  select recorded_at from ledger.anomaly_evaluations
  union all
  select unnest([acknowledged_at, ended_at]) from ledger.acknowledgements
  union all
  select unnest([queued_at, ended_at]) from ledger.outbox
  union all
  select unnest([began_at, ended_at]) from ledger.deliveries
  union all
  select made_at from ledger.forecasts
),
ran as (
  select unnest([started_at, ended_at]) as ran_at from ledger.runs
  union all
  select unnest([started_at, ended_at]) from ledger.steps
  union all
  select slot from ledger.job_runs
),
last_seen as (
  select
    max(seen_at) as seen_at,
    max(seen_at) filter (seen_at <= cast($after as timestamp)) as seen_before
  from seen
),
last_ran as (select max(ran_at) as ran_at from ran),
last_loads as (
  select
    max_by(seen_at, load_number) as seen_at,
    max(seen_at) filter (seen_at <= cast($after as timestamp)) as seen_before
  from ledger.loads
)
select
  epoch_ms(greatest(last_seen.seen_at, last_loads.seen_at)) as last,
  epoch_ms(greatest(last_seen.seen_before, last_loads.seen_before)) as last_before,
  epoch_ms(
    case
      when greatest(last_seen.seen_at, last_ran.ran_at) > cast($after as timestamp)
        then greatest(last_seen.seen_at, last_ran.ran_at)
    end
  ) as last_after
from last_seen
cross join last_ran
cross join last_loads;
