--! about: By how much the costs of a resource in one billing dimension changed in a month so far, in USD: in its complete hours,
--! about: beside the same hours of the month before. One row: the month, workspace, type, name and billing dimension.
with through as (
  select min(complete_through) as complete_through, date_trunc('month', min(complete_through) - interval 1 hour) as month_start
  from accounts
),
windows as (
  select
    month_start,
    complete_through as month_end,
    month_start - interval 1 month as base_start,
    base_start + (complete_through - month_start) as base_end
  from through
)
select
  concat_ws(
    '/', strftime(windows.month_start, '%Y-%m'), coalesce(costs.workspace, ''), costs.resource_type,
    coalesce(costs.resource_name, ''), costs.billing_dimension
  ) as subject,
  cast(sum(case when costs.bucket_start >= windows.month_start then costs.cost else -costs.cost end) as decimal(38, 12)) as value
from costs
join windows
  on (costs.bucket_start >= windows.month_start and costs.bucket_start < windows.month_end)
  or (costs.bucket_start >= windows.base_start and costs.bucket_start < windows.base_end)
group by subject;
