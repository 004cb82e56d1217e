--! about: Values that the current allocation rules test, by series and time.
--! grain: series_id, mounter, from_time, field, value
-- mounter is 0 for the values of the resource itself; for a volume, those of each mounter follow. Internal: public
-- views build on it.
create or replace view ledger.allocation_facts as
with
rules as materialized (select rule_number, conditions, owner, aliases from ledger.allocation_rules),
--! include: facts_of_rules
;
