--! about: Both sums over all compared days, on how many days with cost the platform reports less than the books, the days
--! about: on which it has nothing of several resources any more, and the workspaces of several resources that had cost on several days and now have none. Of these, renames has those
--! about: whose cost of every day is now under one name that the books do not have.
with days as (
  select
    bucket_start,
    sum(our_cost) as ours,
    sum(their_cost) as theirs,
    count(*) filter (our_cost > 0) > 1 and bool_and(their_cost = 0 and their_usage = 0) as is_empty
  from compared_past
  group by bucket_start
),
workspaces as (
  select workspace
  from compared_past
  where workspace is not null
  group by workspace
  having sum(their_cost) = 0 and sum(their_usage) = 0 and count(distinct bucket_start) filter (our_cost > 0) >= $access_days
),
-- One resource that vanished is a restatement; a workspace of several resources hardly is.
workspaces_of_several as (
  select workspace
  from ledger.series
  where account = $account
  group by workspace
  having count(distinct coalesce(resource_uuid, resource_name)) > 1
),
gone as (
  select workspace from workspaces semi join workspaces_of_several using (workspace)
),
days_of_workspaces as (
  select
    workspace,
    bucket_start,
    sum(our_cost) as ours,
    sum(their_cost) as theirs,
    sum(cost_tolerance) as tolerance
  from compared_past
  where workspace is not null
  group by workspace, bucket_start
),
arrived as (
  select workspace
  from days_of_workspaces
  group by workspace
  having sum(abs(ours)) = 0 and sum(abs(theirs)) > 0
),
-- Each day of both: what the old name had in the books, and what the new one has now.
days_of_pairs as (
  select gone.workspace, arrived.workspace as new_name, days.bucket_start, days.ours, 0 as theirs, days.tolerance
  from gone
  cross join arrived
  join days_of_workspaces as days on days.workspace = gone.workspace
  union all
  select gone.workspace, arrived.workspace, days.bucket_start, 0, days.theirs, days.tolerance
  from gone
  cross join arrived
  join days_of_workspaces as days on days.workspace = arrived.workspace
),
compared_pairs as (
  select workspace, new_name, bucket_start, abs(cast(sum(ours) - sum(theirs) as double)) <= sum(tolerance) as is_same
  from days_of_pairs
  group by workspace, new_name, bucket_start
),
renames as (
  select workspace, new_name
  from compared_pairs
  group by workspace, new_name
  having bool_and(is_same)
)
select
  coalesce(sum(ours), 0) as ours,
  coalesce(sum(theirs), 0) as theirs,
  count(*) filter (ours > 0) as days,
  count(*) filter (ours > 0 and theirs < ours * 0.999) as lower_days,
  count(*) filter (is_empty) as empty_days,
  coalesce(sum(ours) filter (is_empty), 0) as lost,
  strftime(min(bucket_start) filter (is_empty), '%Y-%m-%d') as empty_from,
  strftime(max(bucket_start) filter (is_empty), '%Y-%m-%d') as empty_to,
  (select list(workspace order by workspace) from gone) as workspaces_gone,
  (
    select to_json(list({'workspace': workspace, 'newName': new_name} order by workspace, new_name)) from renames
  ) as renames
from days;
