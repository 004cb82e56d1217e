--! about: CTE series_in_scopes (id, label, owner, series_id, account): the series that match each row of the CTE scopes
--! about: (id, scope) in everything but labels and owners, which change with time. A scope with a unit has only series
--! about: whose usage is in it.
series_in_scopes as (
  select scopes.id, scopes.scope.label as label, scopes.scope.owner as owner, series.series_id, series.account
  from scopes
  join series
    on (scopes.scope.account is null or list_contains(scopes.scope.account, series.account))
    and (scopes.scope.workspace is null or list_contains(scopes.scope.workspace, series.workspace))
    and (scopes.scope.resource_type is null or list_contains(scopes.scope.resource_type, series.resource_type))
    and (
      scopes.scope.billing_dimension is null
      or list_contains(scopes.scope.billing_dimension, series.billing_dimension)
    )
    and (
      scopes.scope.unit is null
      or series.unit = case when scopes.scope.unit = 'GB-hours' then 'GB-seconds' else scopes.scope.unit end
    )
    and (
      scopes.scope.resource_name is null
      or len(list_filter(scopes.scope.resource_name, lambda pattern: series.resource_name like pattern escape '\')) > 0
    )
),
