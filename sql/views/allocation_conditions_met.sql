--! about: The conditions of allocation rules that each series meets, by time. Internal: public views build on it. A
--! about: rule matches if at least one condition of each of its numbers is met.
--! grain: series_id, mounter, from_time, rule_number, condition_number
create or replace view ledger.allocation_conditions_met as
with
rules as materialized (select rule_number, conditions from ledger.allocation_rules),
facts as materialized (select * from ledger.allocation_facts),
--! include: conditions_met_by_facts
;
comment on view ledger.allocation_conditions_met is 'Conditions of allocation rules that each series meets, by time';
