--! about: New entries of the deployment histories of resources; instants as text.
insert into ledger.resource_events
select
  $account, workspace, $resource_type, resource_name, cast(event_time as timestamp), event_type, status, message,
  revision, canary_revision, cast($run_number as bigint), cast($seen_at as timestamp)
from rows_in(
  $events,
  '[{
    "workspace": "VARCHAR", "resource_name": "VARCHAR", "event_time": "VARCHAR", "event_type": "VARCHAR",
    "status": "VARCHAR", "message": "VARCHAR", "revision": "VARCHAR", "canary_revision": "VARCHAR"
  }]'
);
