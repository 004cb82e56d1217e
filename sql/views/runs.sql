--! about: Every run of a command that writes, and every scheduled job run that was missed.
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
  runs.error_code,
  runs.next_step,
  job_runs.job,
  job_runs.slot
from ledger.runs as runs
left join ledger.job_runs as job_runs on job_runs.run_number = runs.run_number;
comment on view runs is 'Every run of a command that writes, successful or not, and every scheduled job run that was missed';
comment on column runs.run_number is 'Number of the run, ascending';
comment on column runs.command is 'Command that ran; for a job, run and the job''s name';
comment on column runs.started_at is 'Start, UTC; for a missed run, when Costbook noticed it';
comment on column runs.ended_at is 'End, UTC; null while it runs';
comment on column runs.outcome is 'running, done, failed, interrupted or missed';
comment on column runs.exit_code is 'Exit code';
comment on column runs.error is 'Why the run failed';
comment on column runs.error_code is 'Code of the error, the same however its words change: answered_401, reduced_access; null for a run that succeeded';
comment on column runs.next_step is 'What the error says to do; null if that follows from the exit code';
comment on column runs.job is 'Job of the run; null for a command that was run on its own';
comment on column runs.slot is 'Scheduled time of the run, UTC; null if a person or another scheduler started it';
