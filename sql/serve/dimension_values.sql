--! about: The values of each dimension that the viewer sees, for filters, '' for none; at most 500 of each.
with named as (
  select distinct dimension, coalesce(value, '') as value
  from (select distinct account, workspace, resource_type, billing_dimension, unit from visible_series)
  unpivot include nulls (value for dimension in (account, workspace, resource_type, billing_dimension, unit))
)
select dimension, value
from named
qualify row_number() over (partition by dimension order by value) <= 500
order by dimension, value;
