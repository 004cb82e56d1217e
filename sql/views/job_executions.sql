--! about: Executions of jobs beside their billed compute, by job and day: a cross-check of single days, about one a week, of the
--! about: dearest jobs. What is billed and in no task may be retries; platforms also forget executions.
--! grain: account, workspace, resource_name, day_start
create or replace view job_executions as
select
  read.account,
  read.workspace, --: Workspace that contains the job
  read.resource_name, --: Name of the job
  read.day_start, --: Start of the day, UTC
  read.executions, --: Executions that ran on that day
  read.tasks, --: Their tasks on that day
  read.task_usage, --: Memory of the job in GB times the seconds of its tasks on that day
  cast(coalesce(billed.usage, 0) as decimal(38, 9)) as billed_usage, --: GB-seconds of compute that are billed for that day
  cast(coalesce(billed.usage, 0) - read.task_usage as decimal(38, 9)) as difference, --: Billed usage that no task explains; negative if tasks took more than is billed
  read.read_at --: When the executions were read, UTC
from ledger.job_executions as read
left join (
  select
    series.account, series.workspace, series.resource_name, date_trunc('day', hourly_costs.bucket_start) as day_start,
    sum(hourly_costs.usage) as usage
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  where series.billing_dimension = 'job_compute_runtime_gbs'
    and (series.account, series.workspace, series.resource_name, date_trunc('day', hourly_costs.bucket_start)) in (
      select (account, workspace, resource_name, day_start) from ledger.job_executions
    )
  group by all
) as billed using (account, workspace, resource_name, day_start)
qualify row_number() over (
  partition by read.account, read.workspace, read.resource_name, read.day_start order by read.read_at desc, read.run_number desc
) = 1;
