--! about: Every step of every job run: outcome, duration and counts.
--! grain: run_number, position
create or replace view run_steps as
select
  run_number, --: Run that the step belongs to
  position, --: Position of the step in the job, from 1
  step, --: Step: ingest, check, close, report, statement, summarize, subscriptions or alert
  command_line, --: The step with its options, as you would type it after costbook
  outcome, --: running, done, failed, interrupted, or left_out: a step that it needs had failed, or the run ended first
  started_at, --: Start, UTC
  ended_at, --: End, UTC; null while it runs
  seconds, --: Duration in real time, in seconds
  exit_code, --: Exit code of the step's command; null if the step was left out
  array_to_string(
    list_transform(
      from_json(failures, '[{"step": "varchar", "found": "varchar"}]'),
      lambda each : coalesce(each.step || ': ', '') || each.found
    ),
    chr(10)
  ) as error, --: Why the step failed or was left out, a line for each failure
  failures ->> '$[0].code' as error_code, --: Code of the error that decides the exit code, the same however its words change: answered_401, reduced_access; null for a step that succeeded
  (failures ->> '$[0].next.who') || ': ' || (failures ->> '$[0].next.words') as next_step, --: What that error says to do; null if that follows from the exit code
  figures, --: What the step counted, a JSON object
  failures --: What failed, the one that decides the exit code first: a JSON list of code, subject (a host, a file), found and next; null if nothing failed
from ledger.steps;
