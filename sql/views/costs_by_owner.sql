--! about: Cost by hour and owner without the resources of shared cost: the same sums by owner as costs_allocated, in a
--! about: fraction of the time. Internal: reports that do not name resources build on it.
--! grain: account, bucket_start, series_id, rule, owner
create or replace view ledger.costs_by_owner as
select
  series.account,
  hourly_costs.series_id,
  hourly_costs.bucket_start,
  owners.rule,
  owners.owner,
  false as is_shared,
  hourly_costs.cost
from ledger.hourly_costs as hourly_costs
join ledger.allocation_owners as owners on owners.series_id = hourly_costs.series_id
join ledger.series as series on series.series_id = hourly_costs.series_id
where not owners.is_split
  and hourly_costs.bucket_start >= owners.from_time
  and hourly_costs.bucket_start < owners.to_time
union all
select account, null, bucket_start, rule, owner, true, cost
from ledger.shared_costs;
comment on view ledger.costs_by_owner is 'Cost by hour and owner, by the current allocation rules; shared cost is not divided by resource';
comment on column ledger.costs_by_owner.account is 'Billing account';
comment on column ledger.costs_by_owner.series_id is 'Number of the series; null for shared cost';
comment on column ledger.costs_by_owner.bucket_start is 'Start of the hour, UTC';
comment on column ledger.costs_by_owner.rule is 'Allocation rule that applied';
comment on column ledger.costs_by_owner.owner is 'Owner of the cost: a JSON object with the rules'' dimensions in order';
comment on column ledger.costs_by_owner.is_shared is 'Whether a rule splits this cost over owners; if so, cost is this owner''s share';
comment on column ledger.costs_by_owner.cost is 'Cost in USD';
