--! about: Every row that a month bills as one line of JSON, in the order of these lines. A close stores their SHA-256.
select
  account,
  cast(to_json([
    charge_class, cast(bucket_start as varchar), workspace, resource_type, resource_name, resource_uuid,
    billing_dimension, unit, cast(cost as varchar), cast(usage as varchar)
  ]) as varchar) as line
from costs_billed
where billing_month = cast($month as date)
order by line;
