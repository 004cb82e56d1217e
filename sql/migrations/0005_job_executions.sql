--! about: What the tasks of jobs used on a day, by the executions that the platform lists, to compare with what it billed.
create table ledger.job_executions (
  account varchar not null,
  workspace varchar not null,
  resource_name varchar not null,
  -- The UTC day, by its start.
  day_start timestamp not null,
  executions integer not null,
  tasks integer not null,
  -- GB of memory times seconds within that day, as the billed usage.
  task_usage decimal(38, 9) not null,
  run_number bigint not null,
  read_at timestamp not null
);
