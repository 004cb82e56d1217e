--! about: What the report label_coverage answers for a month ($month) and all accounts, from sums by day.
with volume_hours as (
  select hourly_costs.series_id, hourly_costs.bucket_start, hourly_costs.cost
  from hourly_costs
  join ledger.series as series using (series_id)
  where series.resource_type = 'volume'
    and hourly_costs.bucket_start >= cast($month as timestamp)
    and hourly_costs.bucket_start < cast($month as timestamp) + interval 1 month
),
--! include: hours_of_mounts
hours as (
  select
    series.account,
    cast($month as date) as month,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    states.labels,
    sum(day_costs.cost) as cost
  from memory.main.day_costs as day_costs
  join ledger.series as series using (series_id)
  -- The time of an owner is within that of one state.
  left join memory.main.states as states
    on states.series_id = day_costs.series_id
    and states.from_time <= day_costs.from_time
    and states.to_time > day_costs.from_time
  where day_costs.day >= cast($month as timestamp) and day_costs.day < cast($month as timestamp) + interval 1 month
    and day_costs.series_id not in (select series_id from mounted)
  group by all
  union all
  select account, month, workspace, resource_type, resource_name, resource_uuid, labels, cost
  from mounted_hours
),
--! include: labelled_costs
;
