--! about: The series and hours that a viewer of some workspaces sees ($workspaces: JSON list of names).
create or replace temp table visible_workspaces as
select unnest(from_json($workspaces, '["VARCHAR"]')) as workspace;

create or replace temp view visible_series as
select * from series where workspace in (select workspace from visible_workspaces);

create or replace temp view visible_hours as
select series_id, bucket_start, cost, usage
from hourly_costs
where series_id in (select series_id from series where workspace in (select workspace from visible_workspaces));

create or replace temp view visible_days as
select series_id, from_time as valid_at, day as bucket_start, cost, usage,
  day + to_hours(first_hour) as first_bucket, day + to_hours(last_used_hour) as last_used_bucket
from memory.main.day_costs
where series_id in (select series_id from series where workspace in (select workspace from visible_workspaces));

create or replace temp view visible_accounts as select distinct account from visible_series;

create or replace temp view visible_states as
select series_id, from_time, to_time, labels, region
from memory.main.states
where series_id in (select series_id from visible_series);

create or replace temp view visible_ownership as
select series_id, from_time, to_time, is_split, owner
from memory.main.owners
where series_id in (select series_id from visible_series);
