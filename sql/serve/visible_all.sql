--! about: The series and hours that an unrestricted viewer sees: all of them. Pages read nothing else.
create or replace temp view visible_series as select * from series;
create or replace temp view visible_hours as select series_id, bucket_start, cost, usage from hourly_costs;

create or replace temp view visible_accounts as select account from accounts;

-- Where the labels, regions and owners of these series come from, by time.
create or replace temp view visible_states as
select series_id, from_time, to_time, labels, region from ledger.series_states;

create or replace temp view visible_ownership as
select series_id, from_time, to_time, is_split, owner from ledger.allocation_owners;
