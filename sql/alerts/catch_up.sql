--! about: When a run last began to fetch, and the command that fetches everything that is missing and alerts: the last job
--! about: that does both and closes no month, or else ingest.
--! grain: one row
with fetches as (
  select run_number from ledger.runs where command = 'ingest'
  union
  select run_number from ledger.steps where step = 'ingest' and outcome <> 'left_out'
),
jobs as (
  select run_number
  from ledger.steps
  group by run_number
  having bool_or(command_line = 'ingest') and bool_or(step = 'alert') and not bool_or(step = 'close')
)
select
  coalesce((select max_by(command, run_number) from ledger.runs where run_number in (select run_number from jobs)), 'ingest') as command,
  (
    select strftime(max(started_at), '%Y-%m-%dT%H:%M:%SZ') from ledger.runs where run_number in (select run_number from fetches)
  ) as fetched_at
