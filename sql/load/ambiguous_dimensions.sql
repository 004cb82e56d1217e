--! about: Billing dimensions with rows without UUID that may belong to several resource types: resources of several
--! about: types that share a name would arrive as one row, with a meaningless type.
select distinct incoming_series.billing_dimension
from incoming_series
left join ledger.billing_dimensions as known
  on known.billing_dimension = incoming_series.billing_dimension
  and known.resource_type = incoming_series.resource_type
where incoming_series.resource_uuid is null
  and incoming_series.billing_dimension is not null
  and known.billing_dimension is null
order by incoming_series.billing_dimension;
