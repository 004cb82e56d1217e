--! about: What a resource cost from an instant on until the hour through which every account is complete, in USD. One row: the
--! about: $subject, an instant, workspace, type and name.
with books as (
  select
    --! include: state_of_accounts
  from accounts
)
select $subject as subject, cast(coalesce(sum(cost), 0) as decimal(38, 12)) as value
from costs
where concat_ws('/', workspace, resource_type, resource_name) = substr($subject, strpos($subject, '/') + 1)
  and bucket_start >= cast(split_part($subject, '/', 1) as timestamp)
  and bucket_start < (select complete_through from books);
