--! about: Every row billed in a month as a line of JSON, sorted by these lines.
--! about: A close stores the SHA-256 of these lines and the invoice.
select
  account,
  cast(to_json([
    charge_class, cast(bucket_start as varchar), workspace, resource_type, resource_name, resource_uuid,
    billing_dimension, unit, cast(cost as varchar), cast(usage as varchar)
  ]) as varchar) as line
from costs_billed
where billing_month = cast($month as date)
order by line;
