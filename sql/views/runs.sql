--! about: Every run of a command that writes, and every slot of a job that nobody ran.
--! grain: run_number
create or replace view runs as
select
  runs.run_number,
  runs.command,
  runs.started_at,
  runs.ended_at,
  runs.outcome,
  runs.exit_code,
  runs.error,
  job_runs.job,
  job_runs.slot
from ledger.runs as runs
left join ledger.job_runs as job_runs on job_runs.run_number = runs.run_number;
comment on view runs is 'Every run of a command that writes, whether it ended well or not, and every slot of a job that nobody ran';
comment on column runs.run_number is 'Number of the run, growing';
comment on column runs.command is 'Command that ran; run and the name of a job';
comment on column runs.started_at is 'Start, UTC; of a slot that was missed when that was found out';
comment on column runs.ended_at is 'End, UTC; null while it runs';
comment on column runs.outcome is 'running, done, failed, interrupted or missed';
comment on column runs.exit_code is 'Exit code';
comment on column runs.error is 'What failed';
comment on column runs.job is 'Job that it is a run of; null of a command that was run by itself';
comment on column runs.slot is 'Instant of the schedule that it was for, UTC; null where it was started by hand or by another clock';
