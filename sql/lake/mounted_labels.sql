--! about: The labels of the resources that mount the volume behind a series, by time, each with its part of the volume.
--! grain: series_id, from_time, parts_before
select
  series_id,
  greatest(from_time, timestamp '1970-01-01') as from_time,
  least(to_time, timestamp '9999-12-31') as to_time,
  labels,
  parts_before,
  parts_through,
  all_parts
from ledger.mounted_labels
order by series_id, from_time, parts_before
