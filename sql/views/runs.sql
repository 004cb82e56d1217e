--! about: Every run of a command that writes.
--! grain: run_number
create or replace view runs as
select
  run_number,
  command,
  started_at,
  ended_at,
  outcome,
  exit_code,
  error
from ledger.runs;
comment on view runs is 'Every run of a command that writes, whether it ended well or not';
comment on column runs.run_number is 'Number of the run, growing';
comment on column runs.command is 'Command that ran';
comment on column runs.started_at is 'Start, UTC';
comment on column runs.ended_at is 'End, UTC; null while it runs';
comment on column runs.outcome is 'running, done, failed or interrupted';
comment on column runs.exit_code is 'Exit code';
comment on column runs.error is 'What failed';
