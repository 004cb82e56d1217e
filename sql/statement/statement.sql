--! about: What did each resource cost in the month, and in the month before?
--! grain: account, workspace, resource_type, resource_name, resource_uuid
--! params: month month = last-complete
--! formats: xlsx
-- The month before is null unless both months are complete in every account.
with costs as (
  select series_id, bucket_start >= cast($month as timestamp) as is_month, sum(cost) as cost
  from hourly_costs
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
  group by all
),
--! include: resources_of_month
