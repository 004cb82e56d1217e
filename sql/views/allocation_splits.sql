--! about: How shared cost is split over owners.
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
comment on view allocation_splits is 'How the shared cost of each month is split over owners, one row per owner. If nobody owns any cost in a month, its shared cost has no row here and has no owner';
comment on column allocation_splits.account is 'Billing account';
comment on column allocation_splits.usage_month is 'First day of the month, UTC';
comment on column allocation_splits.rule is 'Allocation rule that matched the shared cost';
comment on column allocation_splits.split_by is 'Basis of the split: cost, evenly, weights or usage';
comment on column allocation_splits.is_evenly_instead is 'Whether the cost was split evenly because no owner had any weight';
comment on column allocation_splits.pool_cost is 'Cost in USD that the rule matched in the month, of all owners together';
comment on column allocation_splits.owner is 'Owner, as in costs_allocated';
comment on column allocation_splits.team is 'Team of the owner';
comment on column allocation_splits.product is 'Product of the owner';
comment on column allocation_splits.environment is 'Environment of the owner';
comment on column allocation_splits.weight is 'Weight of this owner in the split: USD, usage or the weight from the rule; a negative weight counts as zero';
comment on column allocation_splits.cost is 'Share of this owner in USD; the shares of a month and rule add up to pool_cost exactly';
