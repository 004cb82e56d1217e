--! about: A scheduled job run did not happen, or could not be recorded; the job's next run notices it.
insert into ledger.runs (run_number, command, started_at, ended_at, outcome, failures)
values (
  cast($run_number as bigint), 'run ' || $job, cast($found_at as timestamp), cast($found_at as timestamp), 'missed',
  $failures
);

insert into ledger.job_runs (run_number, job, slot)
values (cast($run_number as bigint), $job, cast($slot as timestamp));
