--! about: The series and hours that an unrestricted viewer sees: all of them. Pages read nothing else.
create or replace temp view visible_series as select * from series;
create or replace temp view visible_hours as select series_id, bucket_start, cost, usage from hourly_costs;
create or replace temp view visible_days as
select series_id, day as bucket_start, cost, usage from memory.main.day_costs;

create or replace temp view visible_accounts as select account from accounts;
