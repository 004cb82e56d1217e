--! about: Stores the first and the last hour of the series that loads have extended.
delete from ledger.series_hours where series_id in (select series_id from extended_series);

insert into ledger.series_hours
select series_id, first_hour, last_hour, (select max(load_number) from ledger.loads)
from extended_series;
