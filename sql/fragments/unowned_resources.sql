--! about: The end of a query: resources whose costs of the month ($month) have no owner, with the label that would assign
--! about: one. From the CTEs unowned (series_id, cost), states and facts, as the views series_states and allocation_facts.
latest as (
  select series_id, max(from_time) as from_time
  from states
  where from_time < cast($month as timestamp) + interval 1 month
  group by series_id
),
conditions as (
  select rule_number, unnest(conditions, recursive := true)
  from ledger.allocation_rules
),
labels_read as (
  select field, min(rule_number) as first_rule
  from conditions
  where starts_with(field, 'label:') and kind <> 'absent'
  group by field
),
known_values as (
  select distinct field, value
  from conditions
  where kind = 'is' and starts_with(field, 'label:')
),
-- The nearest known value of each label, if at most a third of its letters differ.
spelt_like as (
  select
    facts.field,
    facts.value,
    arg_min(known_values.value, (levenshtein(lower(facts.value), lower(known_values.value)), known_values.value)) as known
  from (select distinct field, value from facts where value is not null) as facts
  join known_values on known_values.field = facts.field and known_values.value <> facts.value
  where levenshtein(lower(facts.value), lower(known_values.value)) <= greatest(2, len(facts.value) // 3)
    and facts.value not in (select value from known_values as same where same.field = facts.field)
  group by facts.field, facts.value
),
fixable as (
  select
    unowned.series_id,
    arg_min(
      {'label': facts.field[7:], 'value': facts.value, 'known': spelt_like.known},
      (case when spelt_like.known is not null then 1 when facts.value is null then 2 else 3 end, labels_read.first_rule, facts.field)
    ) as fix
  from unowned
  join latest using (series_id)
  join states using (series_id, from_time)
  join facts using (series_id, from_time)
  join labels_read on labels_read.field = facts.field
  left join spelt_like on spelt_like.field = facts.field and spelt_like.value = facts.value
  where states.labels is not null
    or exists (select 1 from ledger.resources_of_series as known where known.series_id = unowned.series_id)
  group by unowned.series_id
),
resources as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    cast(sum(unowned.cost) as decimal(38, 12)) as cost,
    arg_max(fixable.fix, unowned.cost) as fix
  from unowned
  join series using (series_id)
  left join fixable using (series_id)
  group by series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid
)
select
  row_number() over (
    order by cost desc, account, workspace, resource_type, resource_name, resource_uuid
  ) as rank,
  account,
  cast($month as date) as month,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  cost,
  cast(cost / nullif(sum(cost) over (), 0) as decimal(18, 6)) as share_of_unallocated,
  fix.label as label,
  fix.value as label_value,
  fix.known as suggested_value,
  case
    when fix is null then 'a rule by workspace, name or type: no label reaches it'
    when fix.known is not null
      then 'the label ' || fix.label || ' is ' || fix.value || ': make it ' || fix.known || ', or an alias of it'
    when fix.value is null then 'set the label ' || fix.label
    else 'a rule for the label ' || fix.label || ': ' || fix.value
  end as fix
from resources
