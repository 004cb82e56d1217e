--! about: What came of each step of every run of a job.
--! grain: run_number, position
create or replace view run_steps as
select
  run_number,
  position,
  step,
  command_line,
  outcome,
  started_at,
  ended_at,
  seconds,
  exit_code,
  error,
  figures
from ledger.steps;
comment on view run_steps is 'Every step of every run of a job: outcome, duration and what it counted';
comment on column run_steps.run_number is 'Run that it is a step of';
comment on column run_steps.position is 'Place among the steps of the job, from 1';
comment on column run_steps.step is 'Step: ingest, check, close, report, summary or alert';
comment on column run_steps.command_line is 'Step with its options, as one would type it after costbook';
comment on column run_steps.outcome is 'running, done, failed, interrupted, or left_out where something that it needs had failed or the run was at its end';
comment on column run_steps.started_at is 'Start, UTC';
comment on column run_steps.ended_at is 'End, UTC; null while it runs';
comment on column run_steps.seconds is 'Duration in real time, in seconds';
comment on column run_steps.exit_code is 'Exit code that the command would have ended with; null where it was left out';
comment on column run_steps.error is 'What failed, or why it was left out';
comment on column run_steps.figures is 'What it counted, as a JSON object';
