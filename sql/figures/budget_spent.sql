--! about: What is spent of a budget in a period, in USD: all hours that the books have, also young ones, which may still grow.
--! about: Not known, if no hour of the period is complete yet. One row: a budget of everything, of the workspace $workspace, or
--! about: of the owner $owner, from $from until before $to.
with books as (
  select
    --! include: state_of_accounts
  from accounts
)
select 'budget' as subject, cast(coalesce(sum(cost), 0) as decimal(38, 12)) as value
from (
  select bucket_start, cost from costs where $owner is null and coalesce(workspace = $workspace, $workspace is null)
  union all
  select bucket_start, cost from ledger.costs_by_owner where owner = $owner
)
where bucket_start >= $from and bucket_start < $to
having (select complete_through from books) > $from;
