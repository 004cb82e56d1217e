--! about: The view allocation_owners as a JSON list, for the fragment given_owners.
select cast(coalesce(to_json(list(found)), '[]') as varchar) as owners
from (
  select series_id, from_time, to_time, rule_number, rule, is_split, owner, is_mounted, mount_split
  from ledger.allocation_owners
) as found
