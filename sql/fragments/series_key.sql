--! about: The value of a series by which explore groups ($group_by).
when 'account' then series.account
when 'workspace' then series.workspace
when 'resource_type' then series.resource_type
when 'resource_name' then series.resource_name
when 'resource_uuid' then series.resource_uuid
when 'billing_dimension' then series.billing_dimension
when 'unit' then series.unit
when 'series' then cast(to_json([series.workspace, series.resource_type, series.resource_name, series.billing_dimension]) as varchar)
