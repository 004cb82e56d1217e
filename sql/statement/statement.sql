--! about: What did each resource cost in the month, and in the month before?
--! grain: account, workspace, resource_type, resource_name, resource_uuid
--! params: month month = last-complete
--! formats: xlsx
-- The month before is null unless both months are complete in every account.
with hours as (
  select series_id, bucket_start >= cast($month as timestamp) as is_month, sum(cost) as cost
  from hourly_costs
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
  group by all
),
known as (
  select
    coalesce(
      bool_and(
        history_start <= cast($month as timestamp) - interval 1 month
        and complete_through >= cast($month as timestamp) + interval 1 month
      ),
      false
    ) as has_month_before
  from accounts
)
select
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  cast(coalesce(sum(hours.cost) filter (hours.is_month), 0) as decimal(38, 12)) as cost,
  case
    when known.has_month_before
      then cast(coalesce(sum(hours.cost) filter (not hours.is_month), 0) as decimal(38, 12))
  end as cost_month_before,
  case
    when known.has_month_before
      then cast(
        coalesce(sum(hours.cost) filter (hours.is_month), 0) - coalesce(sum(hours.cost) filter (not hours.is_month), 0)
        as decimal(38, 12)
      )
  end as change
from hours
join series using (series_id)
cross join known
group by
  series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid,
  known.has_month_before
having known.has_month_before or coalesce(bool_or(hours.is_month), false)
