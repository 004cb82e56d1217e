--! about: The values that the current allocation rules test: one row per series, time and field that a rule names.
--! about: mounter is 0 for the values of the resource itself; for a volume, those of each mounter follow. Internal: public
--! about: views build on it.
--! grain: series_id, mounter, from_time, field
create or replace view ledger.allocation_facts as
with
rules as materialized (select rule_number, conditions, owner, aliases from ledger.allocation_rules),
--! include: facts_of_rules
;
comment on view ledger.allocation_facts is 'Values that the current allocation rules test, by series and time';
