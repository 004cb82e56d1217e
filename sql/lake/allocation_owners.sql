--! about: The owner of each series, by time, from the first allocation rule that matches.
--! grain: series_id, from_time
select
  series_id,
  greatest(from_time, timestamp '1970-01-01') as from_time,
  least(to_time, timestamp '9999-12-31') as to_time,
  rule_number,
  rule,
  is_split,
  owner,
  team,
  product,
  environment,
  is_mounted,
  case when mount_split is not null then cast(to_json(mount_split) as varchar) end as mount_split
from lake_owners
order by series_id, from_time
