--! about: Every combination of account, workspace, resource type, resource name, resource UUID and billing dimension
--! about: that ever had cost or usage, with the unit of that usage.
--! grain: series_id
create or replace view series as
select
  series.series_id, --: Number of the series, the same in every warehouse
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  units.unit
from ledger.series as series
left join ledger.units as units using (billing_dimension);
