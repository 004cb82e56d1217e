--! about: How the shared cost of each month is split over owners, one row per owner. If nobody owns any cost in a
--! about: month, its shared cost has no row here and has no owner.
--! grain: account, usage_month, rule, owner
create or replace view allocation_splits as
select
  account,
  usage_month, --: First day of the month, UTC
  rule, --: Allocation rule that matched the shared cost
  split_by, --: Basis of the split: cost, evenly, weights or usage
  is_evenly_instead, --: Whether the cost was split evenly because no owner had any weight
  pool_cost, --: Cost in USD that the rule matched in the month, of all owners together
  owner, --: Owner, as in costs_allocated
  team, --: Team of the owner
  product, --: Product of the owner
  environment, --: Environment of the owner
  weight, --: Weight of this owner in the split: USD, usage or the weight from the rule; a negative weight counts as zero
  cast(cast(share_units as decimal(38, 0)) * 0.000000000001 as decimal(38, 12)) as cost --: Share of this owner in USD; the shares of a month and rule add up to pool_cost exactly
from ledger.allocation_shares;
