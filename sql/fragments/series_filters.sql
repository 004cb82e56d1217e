--! about: The conditions of explore on the names of a series: a filter that is null admits everything, '' admits rows without a
--! about: value.
($account is null or series.account = $account)
and ($workspace is null or coalesce(series.workspace, '') = $workspace)
and ($resource_type is null or coalesce(series.resource_type, '') = $resource_type)
and ($resource_name is null or coalesce(series.resource_name, '') = $resource_name)
and ($resource_uuid is null or coalesce(series.resource_uuid, '') = $resource_uuid)
and ($billing_dimension is null or series.billing_dimension = $billing_dimension)
and ($unit is null or coalesce(series.unit, '') = $unit)
