--! about: What explains changes of costs from $from to $to: the open or ended anomalies of these days with the resource that
--! about: drives each, and the resources that were deployed or changed.
with
--! include: deployments
unusual as (
  select account, workspace, resource_type, driver as resource_name, anomaly_key, cast(first_day as varchar) as first_day
  from anomalies
  where is_notified and state <> 'restated' and driver is not null
    and cast(last_day as timestamp) >= cast($from as timestamp) - interval 1 day
    and cast(first_day as timestamp) < cast($to as timestamp)
  qualify row_number() over (partition by account, workspace, resource_type, driver order by abs(impact) desc, anomaly_key) = 1
),
changed as (
  select
    account, workspace, resource_type, resource_name,
    -- A deployment has several events; they name its revision.
    count(distinct coalesce(revision, strftime(happened_by, '%Y-%m-%dT%H:%M:%S.%f'))) as deployments,
    strftime(max(happened_by), '%Y-%m-%dT%H:%M:%SZ') as deployed_at
  from deployments
  where happened_by >= cast($from as timestamp) and happened_by < cast($to as timestamp)
  group by account, workspace, resource_type, resource_name
)
select
  coalesce(unusual.account, changed.account) as account,
  coalesce(unusual.workspace, changed.workspace) as workspace,
  coalesce(unusual.resource_type, changed.resource_type) as resource_type,
  coalesce(unusual.resource_name, changed.resource_name) as resource_name,
  unusual.anomaly_key,
  unusual.first_day,
  changed.deployments,
  changed.deployed_at
from unusual
full join changed
  on changed.account = unusual.account
  and changed.workspace is not distinct from unusual.workspace
  and changed.resource_type is not distinct from unusual.resource_type
  and changed.resource_name is not distinct from unusual.resource_name;
