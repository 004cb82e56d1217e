--! about: Both sums over all compared days, on how many days with cost the platform reports less than the books, and
--! about: the workspaces of several resources that had cost on several days and now have none.
with days as (
  select bucket_start, sum(our_cost) as ours, sum(their_cost) as theirs
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
)
select
  coalesce(sum(ours), 0) as ours,
  coalesce(sum(theirs), 0) as theirs,
  count(*) filter (ours > 0) as days,
  count(*) filter (ours > 0 and theirs < ours * 0.999) as lower_days,
  (select list(workspace order by workspace) from workspaces semi join workspaces_of_several using (workspace)) as workspaces_gone
from days;
