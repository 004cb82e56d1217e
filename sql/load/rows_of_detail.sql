--! about: The detail's entries as series and hours. A row without UUID may merge several resources of one name in
--! about: several workspaces, so the workspace that enrichment adds to it means nothing and is dropped.
create or replace temp table detail_entries as
select
  entry,
  series_id_of(
    $account,
    case when resource_uuid is not null then workspace end,
    resource_type, resource_name, resource_uuid, billing_dimension
  ) as series_id,
  case when resource_uuid is not null then workspace end as workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension
from staged_entries
where query in (select query from staged_queries where purpose = 'detail');

insert into incoming
select detail_entries.series_id, staged_points.bucket, staged_points.cost, staged_points.usage
from staged_points
join detail_entries using (entry);

insert into incoming_series
select distinct
  series_id, $account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
from detail_entries
where series_id in (select series_id from incoming);
