--! about: Every step of every job run, and its outcome.
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
  error_code,
  next_step,
  figures
from ledger.steps;
comment on view run_steps is 'Every step of every job run: outcome, duration and counts';
comment on column run_steps.run_number is 'Run that the step belongs to';
comment on column run_steps.position is 'Position of the step in the job, from 1';
comment on column run_steps.step is 'Step: ingest, check, close, report, summarize or alert';
comment on column run_steps.command_line is 'The step with its options, as you would type it after costbook';
comment on column run_steps.outcome is 'running, done, failed, interrupted, or left_out: a step that it needs had failed, or the run ended first';
comment on column run_steps.started_at is 'Start, UTC';
comment on column run_steps.ended_at is 'End, UTC; null while it runs';
comment on column run_steps.seconds is 'Duration in real time, in seconds';
comment on column run_steps.exit_code is 'Exit code of the step''s command; null if the step was left out';
comment on column run_steps.error is 'Why the step failed or was left out';
comment on column run_steps.error_code is 'Code of the error, the same however its words change: answered_401, reduced_access; null for a step that did not fail';
comment on column run_steps.next_step is 'What the error says to do; null if that follows from the exit code';
comment on column run_steps.figures is 'What the step counted, a JSON object';
