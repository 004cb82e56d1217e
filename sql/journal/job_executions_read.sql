--! about: What the tasks of jobs used on a day.
insert into ledger.job_executions
select
  $account, workspace, resource_name, cast($day_start as timestamp), executions, tasks, cast(task_usage as decimal(38, 9)),
  cast($run_number as bigint), cast($read_at as timestamp)
from rows_in(
  $jobs,
  '[{
    "workspace": "VARCHAR", "resource_name": "VARCHAR", "executions": "INTEGER", "tasks": "INTEGER", "task_usage": "VARCHAR"
  }]'
);
