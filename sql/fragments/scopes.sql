--! about: CTE scopes (id, scope): the scopes in $scopes, a JSON list of {id, scope}.
scopes as (
  select
    given.id,
    from_json(
      given.scope,
      --! include: scope_type
    ) as scope
  from (select unnest(from_json($scopes, '[{"id": "INTEGER", "scope": "JSON"}]'), recursive := true)) as given
),
