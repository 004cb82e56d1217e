--! about: What was deployed or changed of the drivers ($names) of each of $anomalies in the 48 hours before its first hour,
--! about: or on its first day; newest first, at most 200 rows each.
--! grain: anomaly, place
with
--! include: deployments
asked as (
  select anomaly.anomaly as anomaly, anomaly.account as account, anomaly.workspace as workspace,
    anomaly.resource_type as resource_type, cast(anomaly.first_hour as timestamp) as first_hour,
    unnest(anomaly.names) as resource_name
  from (
    select unnest(
      from_json(
        $anomalies,
        '[{"anomaly": "INTEGER", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
          "first_hour": "VARCHAR", "names": ["VARCHAR"]}]'
      )
    ) as anomaly
  )
),
found as (
  select
    asked.anomaly,
    deployments.*,
    row_number() over (
      partition by asked.anomaly
      order by deployments.happened_by desc, deployments.resource_name, deployments.revision, deployments.status
    ) as place
  from asked
  join deployments
    on deployments.account = asked.account
    and deployments.workspace = asked.workspace
    and deployments.resource_type = asked.resource_type
    and deployments.resource_name = asked.resource_name
    and deployments.happened_by >= asked.first_hour - interval 48 hours
    and deployments.happened_after < date_trunc('day', asked.first_hour) + interval 1 day
)
select
  anomaly, cast(place as integer) as place, workspace, resource_type, resource_name,
  strftime(happened_after, '%Y-%m-%dT%H:%M:%SZ') as happened_after,
  strftime(happened_by, '%Y-%m-%dT%H:%M:%SZ') as happened_by,
  is_event, event_type, status, message, revision, settings
from found
where place <= 200
order by anomaly, place
