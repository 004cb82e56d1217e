--! about: The executions of a job beside its billed compute, newest day first, in the accounts where the viewer sees costs of it.
select strftime(day_start, '%Y-%m-%d') as day, executions, tasks, task_usage, billed_usage, difference
from job_executions
where $type = 'job'
  and workspace = $workspace
  and resource_name = $name
  and account in (
    select account
    from visible_series
    where resource_type = 'job' and workspace = $workspace and resource_name = $name
  )
order by day_start desc
limit 10;
