--! about: Every dimension of the active allocation rules, with its possible owners; null if it has none. Shared cost goes to
--! about: owners with direct cost, or to owners that a rule names with weights.
--! grain: entry_key, entry_value
with active as materialized (select owner, mount_split from ledger.allocation_owners),
owners as (
  select owner from active
  union
  select unnest(list_transform(mount_split.owners, lambda named: named.owner)) as owner from active
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
