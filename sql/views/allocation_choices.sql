--! about: Rule and owner of each series and of the mounters of each volume, by time.
--! grain: series_id, mounter, from_time
-- Internal: public views build on it. mounter is 0 for what they decide for the resource itself; for a volume, what
-- they decide for each mounter follows, as if the volume's cost were the mounter's.
create or replace view ledger.allocation_choices as
with
rules as materialized (select * from ledger.allocation_rules),
hits as materialized (select * from ledger.allocation_conditions_met),
facts as (select * from ledger.allocation_facts),
--! include: choices_of_rules
;
