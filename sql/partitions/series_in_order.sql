--! about: The series with their names, each with its place in the order of the lake's files. Hours are sorted by place and
--! about: joined with the names afterwards: sorting the names along would take twice the time.
create or replace temp table lake_series as
select
  cast(
    row_number() over (
      order by account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, series_id
    ) as integer
  ) as place,
  series_id,
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit
from series
order by place;
