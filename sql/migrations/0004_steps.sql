--! about: Runs of jobs: which job and slot a run was for, and what came of each of its steps.

-- A run of a job. A slot that nobody ran has a run of its own, whose outcome is missed.
create table ledger.job_runs (
  run_number bigint not null,
  job varchar not null,
  -- The instant of the schedule that it was for; null where it was started by hand, or by another clock.
  slot timestamp
);

create table ledger.steps (
  run_number bigint not null,
  -- From 1, in the order in which the job has them.
  position integer not null,
  step varchar not null,
  -- With its options, as one would type it after costbook.
  command_line varchar not null,
  -- running, done, failed, interrupted, or left_out: something that it needs had failed, or the run was at its end.
  outcome varchar not null,
  started_at timestamp not null,
  ended_at timestamp,
  -- In real time, which goes on where the books' own now is fixed.
  seconds decimal(12, 3),
  exit_code integer,
  error varchar,
  -- What it counted, as a JSON object; null where it did not come so far.
  figures varchar
);
