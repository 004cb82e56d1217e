--! about: How shared cost was split over owners.
--! grain: account, usage_month, rule, owner
create or replace view allocation_splits as
select
  account,
  usage_month,
  rule,
  split_by,
  is_evenly_instead,
  pool_cost,
  owner,
  team,
  product,
  environment,
  weight,
  cast(cast(share_units as decimal(38, 0)) * 0.000000000001 as decimal(38, 12)) as cost
from ledger.allocation_shares;
comment on view allocation_splits is 'How the shared cost of each month was split over owners, one row an owner; shared cost of a month in which nobody owns anything has no row, and stays without an owner';
comment on column allocation_splits.account is 'Account that pays';
comment on column allocation_splits.usage_month is 'First day of the month, UTC';
comment on column allocation_splits.rule is 'Allocation rule that caught the shared cost';
comment on column allocation_splits.split_by is 'What it is split by: cost, evenly, weights or usage';
comment on column allocation_splits.is_evenly_instead is 'Whether it was split evenly because no owner weighed anything';
comment on column allocation_splits.pool_cost is 'USD that the rule caught in the month, of all owners';
comment on column allocation_splits.owner is 'Owner, as in costs_allocated';
comment on column allocation_splits.team is 'Team of the owner';
comment on column allocation_splits.product is 'Product of the owner';
comment on column allocation_splits.environment is 'Environment of the owner';
comment on column allocation_splits.weight is 'What it is split in proportion to: USD, usage or the weight of the rule; less than nothing counts as nothing';
comment on column allocation_splits.cost is 'USD of this owner: the shares of a month and rule add up to pool_cost to the last decimal';
