--! about: The regions, labels and owners that the viewer sees, for filters: 500 values of each, 200 labels at most.
with states as materialized (select distinct labels, region from visible_states),
keys as (
  select labels, unnest(json_keys(labels)) as name from states where labels is not null
),
labelled as (
  select
    'label' as field,
    name,
    json_extract_string(labels, '/' || replace(replace(name, '~', '~0'), '/', '~1')) as value
  from keys
),
owners as materialized (select distinct owner from visible_ownership where not is_split),
parts as (
  select owner, unnest(json_keys(owner)) as name from owners
),
owned as (
  select
    'owner' as field,
    name,
    json_extract_string(owner, '/' || replace(replace(name, '~', '~0'), '/', '~1')) as value
  from parts
),
found as (
  select 'region' as field, '' as name, region as value from states where region is not null
  union
  select field, name, value from labelled
  union
  select field, name, value from owned
)
select field, name, value
from found
where value is not null
qualify dense_rank() over (partition by field order by name) <= 200
  and row_number() over (partition by field, name order by value) <= 500
order by field, name, value;
