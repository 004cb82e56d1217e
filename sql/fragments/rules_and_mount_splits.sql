--! about: CTE rules (rule_number, rule, split, dimensions): the allocation rules, and the splits of volumes over the owners
--! about: of their mounters, from the CTE owners (as the view allocation_owners).
rules as materialized (
  select rule_number, rule, split, dimensions from ledger.allocation_rules
  union all
  select distinct owners.rule_number, owners.rule, owners.mount_split, mount_split.over
  from owners
  where owners.mount_split is not null
),
