--! about: Removes the rows without UUID of a resource type, a billing dimension, or both (null: any), before rows that
--! about: were queried by name replace them.
delete from incoming
where series_id in (
  select series_id
  from incoming_series
  where resource_uuid is null
    and ($resource_type is null or resource_type = $resource_type)
    and ($billing_dimension is null or billing_dimension = $billing_dimension)
);
delete from incoming_series
where resource_uuid is null
  and ($resource_type is null or resource_type = $resource_type)
  and ($billing_dimension is null or billing_dimension = $billing_dimension);
