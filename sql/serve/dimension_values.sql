--! about: The values of each dimension that the viewer sees, for filters; at most 500 of each.
with named as (
  unpivot (
    select distinct account, workspace, resource_type, billing_dimension, unit from visible_series
  ) on account, workspace, resource_type, billing_dimension, unit into name dimension value value
)
select dimension, value
from named
group by dimension, value
qualify row_number() over (partition by dimension order by value) <= 500
order by dimension, value;
