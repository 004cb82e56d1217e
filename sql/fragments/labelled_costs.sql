--! about: The end of a query: what share of each month's cost has each label, from the CTE hours (account, month,
--! about: workspace, resource_type, resource_name, resource_uuid, labels, cost).
texts as (
  select distinct labels
  from hours
  where labels is not null
),
read_by_rules as (
  select field[7:] as label
  from (
    select unnest(list_transform(conditions, lambda condition : condition.field)) as field from ledger.allocation_rules
    union all
    select 'label:' || unnest(list_transform(owner, lambda entry : entry.label)) from ledger.allocation_rules
  )
  where starts_with(field, 'label:')
),
labels as (
  select unnest(json_keys(labels)) as label
  from texts
  union
  select label
  from read_by_rules
),
written as (
  select
    texts.labels,
    labels.label,
    coalesce(
      json_extract_string(texts.labels, '/' || replace(replace(labels.label, '~', '~0'), '/', '~1')), ''
    ) <> '' as has_label
  from texts
  cross join labels
),
marked as (
  select hours.*, labels.label, coalesce(written.has_label, false) as has_label
  from hours
  cross join labels
  left join written on written.labels = hours.labels and written.label = labels.label
)
select
  account,
  month,
  label,
  cast(sum(cost) as decimal(38, 12)) as cost,
  cast(coalesce(sum(cost) filter (has_label), 0) as decimal(38, 12)) as labelled_cost,
  -- No share if the month cost nothing.
  cast(coalesce(sum(cost) filter (has_label), 0) / nullif(sum(cost), 0) as decimal(18, 6)) as labelled_share,
  count(distinct (workspace, resource_type, resource_name, resource_uuid)) as resources,
  count(distinct (workspace, resource_type, resource_name, resource_uuid)) filter (has_label) as labelled_resources
from marked
group by account, month, label
