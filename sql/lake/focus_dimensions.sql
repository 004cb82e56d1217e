--! about: FOCUS names of each billing dimension.
--! grain: billing_dimension
--! version: 1
select
  billing_dimension,
  meter,
  unit,
  service_name,
  service_category,
  service_subcategory
from focus_dimensions
order by billing_dimension
