--! about: Every label and value that a resource has or had.
--! grain: entry_key, entry_value
with labels as (
  select distinct labels from ledger.resources where labels is not null
),
entries as (
  select labels.labels, unnest(json_keys(labels.labels)) as entry_key
  from labels
)
select distinct
  entry_key,
  json_extract_string(labels, '/' || replace(replace(entry_key, '~', '~0'), '/', '~1')) as entry_value
from entries
order by entry_key, entry_value
