--! about: Every dimension of the allocation rules in force, with the owners that any cost has along it; null where none has.
--! grain: entry_key, entry_value
with owners as (
  select owner from ledger.series_owners
  union
  select owner from ledger.allocation_shares
),
entries as (
  select owner, unnest(json_keys(owner)) as entry_key
  from owners
)
select distinct entry_key, json_extract_string(owner, '/' || entry_key) as entry_value
from entries
order by entry_key, entry_value
