--! about: The series and hours that a viewer of one owner ($owner) sees: those that the allocation rules give to that
--! about: owner directly, in the first dimension of the rules. Shared costs that are split are not among them.
create or replace temp table visible_owners as
select series_id, from_time, to_time, owner
from memory.main.owners
where not is_split
  and list_extract(list_transform(json_keys(owner), lambda name : json_extract_string(owner, '/' || replace(replace(name, '~', '~0'), '/', '~1'))), 1) = $owner;

create or replace temp view visible_series as
select * from series where series_id in (select series_id from visible_owners);

create or replace temp view visible_hours as
select hourly_costs.series_id, hourly_costs.bucket_start, hourly_costs.cost, hourly_costs.usage
from hourly_costs
join visible_owners
  on visible_owners.series_id = hourly_costs.series_id
  and hourly_costs.bucket_start >= visible_owners.from_time
  and hourly_costs.bucket_start < visible_owners.to_time;

create or replace temp view visible_days as
select
  day_costs.series_id,
  day_costs.from_time as valid_at,
  day_costs.day as bucket_start,
  day_costs.cost,
  day_costs.usage,
  day_costs.day + to_hours(day_costs.first_hour) as first_bucket,
  day_costs.day + to_hours(day_costs.last_used_hour) as last_used_bucket
from memory.main.day_costs as day_costs
join visible_owners
  on visible_owners.series_id = day_costs.series_id and visible_owners.from_time = day_costs.from_time;

create or replace temp view visible_accounts as select distinct account from visible_series;

-- Labels and regions of the time in which the owner has the series, not of earlier or later owners.
create or replace temp view visible_states as
select
  states.series_id,
  greatest(states.from_time, visible_owners.from_time) as from_time,
  least(states.to_time, visible_owners.to_time) as to_time,
  states.labels,
  states.region
from memory.main.states as states
join visible_owners
  on visible_owners.series_id = states.series_id
  and states.from_time < visible_owners.to_time
  and states.to_time > visible_owners.from_time;

create or replace temp view visible_ownership as
select series_id, from_time, to_time, false as is_split, owner from visible_owners;
