--! about: Conditions of allocation rules that each series meets, by time.
--! grain: series_id, mounter, from_time, rule_number, condition_number
-- Internal: public views build on it. A rule matches if at least one condition of each of its numbers is met.
create or replace view ledger.allocation_conditions_met as
with
rules as materialized (select rule_number, conditions from ledger.allocation_rules),
facts as materialized (select * from ledger.allocation_facts),
--! include: conditions_met_by_facts
;
