--! about: The series of the rows to load that are not in the books yet.
insert into ledger.series
select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
from incoming_series
where series_id in (select series_id from loaded)
  and series_id not in (select series_id from ledger.series);
