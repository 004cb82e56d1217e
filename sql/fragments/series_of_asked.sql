--! about: The series of each row of the CTE asked (account, workspace, resource_type, billing_dimension), after series_by_access.
from asked
join series_by_access as series
  on series.account = asked.account
  and series.workspace is not distinct from asked.workspace
  and series.resource_type is not distinct from asked.resource_type
  and series.billing_dimension is not distinct from asked.billing_dimension
