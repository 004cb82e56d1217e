--! about: What resources run from now on; instants as text.
insert into ledger.resource_runtimes
select
  $account, workspace, $resource_type, resource_name, cast(created_at as timestamp), image, revision, min_scale,
  max_scale, cast(changed_by as timestamp), cast($run_number as bigint), cast($seen_at as timestamp)
from rows_in(
  $runtimes,
  '[{
    "workspace": "VARCHAR", "resource_name": "VARCHAR", "created_at": "VARCHAR", "image": "VARCHAR",
    "revision": "VARCHAR", "min_scale": "INTEGER", "max_scale": "INTEGER", "changed_by": "VARCHAR"
  }]'
);
