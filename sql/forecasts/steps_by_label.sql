--! about: Like steps, for scopes that name labels: those that the resource had in the hour of the cost.
--! grain: scope, step
with
--! include: scopes
--! include: series_in_scopes
--! include: cut_of_steps
members as (
  select wanted.id, wanted.series_id, labelled.from_time, labelled.to_time, 1 as parts, 1 as all_parts
  from (select id, series_id, label as entries from series_in_scopes) as wanted
  join (select series_id, from_time, to_time, labels as facts from ledger.resources_of_series) as labelled
    on labelled.series_id = wanted.series_id
    and
    --! include: has_values
),
--! include: steps_of_members
