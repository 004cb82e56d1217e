--! about: What executions explain of the billed compute of jobs on the last day that was compared, by account. Different: those
--! about: whose tasks took more or less than 95 % of what is billed; platforms count a GB as 1000 or 1024 MB.
--! grain: account
select
  account,
  strftime(day_start, '%Y-%m-%d') as day,
  count(*) as jobs,
  to_json(
    list(
      {
        'workspace': workspace, 'job': resource_name,
        'difference': cast(cast(difference as decimal(38, 0)) as varchar),
        'billed': cast(cast(billed_usage as decimal(38, 0)) as varchar)
      }
      order by abs(difference) desc, workspace, resource_name
    )
    filter (abs(difference) > 0.05 * billed_usage)
  ) as different
from job_executions
group by account, day_start
qualify row_number() over (partition by account order by day_start desc) = 1
order by account;
