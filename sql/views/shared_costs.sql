--! about: Shared cost by hour and owner, by the current allocation rules.
--! grain: rule_number, account, bucket_start, owner
-- Internal: public views and reports build on it.
create or replace view ledger.shared_costs as
with
--! include: few_owners
shared as (
  with
  --! include: shared_cost_by_hour
)
select
  rule_number, --: Rule that splits the cost
  rule, --: Name of the rule
  account,
  bucket_start,
  owner, --: Owner of the part: a JSON object with the rules' dimensions in order
  cost
from shared;
