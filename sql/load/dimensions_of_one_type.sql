--! about: Billing dimensions that belong to one resource type only: the type of their rows is certain.
select billing_dimension
from ledger.billing_dimensions
group by billing_dimension
having count(distinct resource_type) = 1;
