--! about: The series that loads after $read_through have extended, for keep_series_hours.
create or replace temp table extended_series as
with
--! include: hours_of_series
extended as (
  select series_id, first_hour, last_hour from hours_of_series where is_new
)
select series_id, first_hour, last_hour from extended;
