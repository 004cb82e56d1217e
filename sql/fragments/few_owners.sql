--! about: CTE owners: the view allocation_owners, out of a list. DuckDB guesses that the view has 10^17 rows, and would keep
--! about: every hour in memory to join them; it guesses that a list has few elements.
owners as materialized (
  select owner_row.*
  from (select unnest(list(found)) as owner_row from ledger.allocation_owners as found)
),
