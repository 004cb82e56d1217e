--! about: Takes out a resource type's rows without uuid, before rows by workspace stand in their place.
delete from incoming
where series_id in (
  select series_id from incoming_series where resource_uuid is null and resource_type = $resource_type
);
delete from incoming_series where resource_uuid is null and resource_type = $resource_type;
