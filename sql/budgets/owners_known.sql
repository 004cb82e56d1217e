--! about: Every dimension of the allocation rules in force, with the owners that any cost may have along it; null where none
--! about: has. Shared cost goes to those who have cost of their own, or to those whom a rule names with weights.
--! grain: entry_key, entry_value
with owners as (
  select owner from ledger.series_owners
  union
  select unnest(list_transform(split.owners, lambda named: named.owner)) as owner from ledger.allocation_rules
),
entries as (
  select owner, unnest(json_keys(owner)) as entry_key
  from owners
)
select distinct entry_key, json_extract_string(owner, '/' || entry_key) as entry_value
from entries
order by entry_key, entry_value
