--! about: For each account and month ($months), a text that changes when the state of a resource in it does.
with
states as (
  select
    series.account,
    known.from_time,
    known.to_time,
    hash(
      known.series_id, known.display_name, known.external_id, known.labels, known.region, known.memory_mb,
      known.generation, known.status, known.created_by, known.provider
    ) as hash
  from lake_states as known
  join lake_series as series using (series_id)
),
--! include: basis_of_states
