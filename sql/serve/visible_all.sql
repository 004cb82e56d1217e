--! about: The series and hours that an unrestricted viewer sees: all of them. Pages read nothing else.
create or replace temp view visible_series as select * from series;
create or replace temp view visible_hours as select series_id, bucket_start, cost, usage from hourly_costs;
-- `valid_at` is a time in which the owner and the labels are those of the row.
create or replace temp view visible_days as
select series_id, from_time as valid_at, day as bucket_start, cost, usage,
  day + to_hours(first_hour) as first_bucket, day + to_hours(last_used_hour) as last_used_bucket
from memory.main.day_costs;

create or replace temp view visible_accounts as select account from accounts;

-- Where the labels, regions and owners of these series come from, by time.
create or replace temp view visible_states as
select series_id, from_time, to_time, labels, region from memory.main.states;

create or replace temp view visible_ownership as
select series_id, from_time, to_time, is_split, owner from memory.main.owners;
