--! about: CTE series_by_access: the series, where those without UUID of the accounts in $merged belong to no workspace.
--! about: An account whose hours were fetched with both roles is in $merged: only an admin sees the workspace of such rows.
series_by_access as (
  select
    * replace (
      case
        when resource_uuid is null and list_contains(cast(from_json($merged, '["VARCHAR"]') as varchar[]), account) then null
        else workspace
      end as workspace
    )
  from series
),
