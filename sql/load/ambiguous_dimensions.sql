--! about: Billing dimensions with rows without uuid that are not known to belong to the one resource type shown: resources
--! about: of several types that share a name would come as one row, and its type would mean nothing.
select distinct incoming_series.billing_dimension
from incoming_series
left join ledger.billing_dimensions as known
  on known.billing_dimension = incoming_series.billing_dimension
  and known.resource_type = incoming_series.resource_type
where incoming_series.resource_uuid is null
  and incoming_series.billing_dimension is not null
  and known.billing_dimension is null
order by incoming_series.billing_dimension;
