--! about: What did each resource cost an owner in the month, and in the month before, with its share of shared cost?
--! grain: account, workspace, resource_type, resource_name, resource_uuid
--! params: month month = last-complete, owner text, dimension text = team
--! formats: xlsx
-- The month before is null unless both months are complete in every account.
with costs as (
  select series_id, bucket_start >= cast($month as timestamp) as is_month, sum(cost) as cost
  from costs_allocated
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
    and json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1')) = $owner
  group by all
),
--! include: resources_of_month
