--! about: Columns of a table of the lake: what a row's series is called, from names, which are rows of lake_series.
names.workspace,
names.resource_type,
names.resource_name,
names.resource_uuid,
names.billing_dimension,
names.unit,
