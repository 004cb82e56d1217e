--! about: The states of one resource follow each other: none overlaps another, ends before it starts, or was seen to
--! about: end before it was seen.
--! severity: fail
with in_order as (
  select
    account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, valid_to, recorded_at,
    ended_at,
    lead(valid_from) over of_resource as next_valid_from
  from ledger.resources
  window of_resource as (
    partition by account, workspace, resource_type, resource_name, created_at, resource_uuid
    order by valid_from, valid_to nulls last
  )
)
select
  account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, valid_to, next_valid_from,
  recorded_at, ended_at
from in_order
where valid_to <= valid_from
  or next_valid_from <= valid_from
  or next_valid_from < coalesce(valid_to, cast('infinity' as timestamp))
  or (valid_to is null) <> (ended_at is null)
  or ended_at < recorded_at
order by account, workspace, resource_type, resource_name, created_at nulls first, resource_uuid nulls first, valid_from
