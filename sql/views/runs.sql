--! about: Every run of a command that writes, successful or not, and every scheduled job run that was missed.
--! grain: run_number
create or replace view runs as
select
  runs.run_number, --: Number of the run, ascending
  runs.command, --: Command that ran; for a job, run and the job's name
  runs.started_at, --: Start, UTC; for a missed run, when Costbook noticed it
  runs.ended_at, --: End, UTC; null while it runs
  runs.outcome, --: running, done, failed, interrupted or missed
  runs.exit_code, --: Exit code
  array_to_string(
    list_transform(
      from_json(runs.failures, '[{"step": "varchar", "found": "varchar"}]'),
      lambda each : coalesce(each.step || ': ', '') || each.found
    ),
    chr(10)
  ) as error, --: Why the run failed, a line for each failure
  runs.failures ->> '$[0].code' as error_code, --: Code of the error that decides the exit code, the same however its words change: answered_401, reduced_access; null for a run that succeeded
  (runs.failures ->> '$[0].next.who') || ': ' || (runs.failures ->> '$[0].next.words') as next_step, --: What that error says to do; null if that follows from the exit code
  job_runs.job, --: Job of the run; null for a command that was run on its own
  job_runs.slot, --: Scheduled time of the run, UTC; null if a person or another scheduler started it
  runs.failures --: What failed, the one that decides the exit code first: a JSON list of code, subject (a host, a file), found, next, and step if a job ran; null if nothing failed
from ledger.runs as runs
left join ledger.job_runs as job_runs on job_runs.run_number = runs.run_number;
