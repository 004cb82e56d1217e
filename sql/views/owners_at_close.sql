--! about: Owner of each series by time in closed months that were corrected since, by the rules of their close.
--! grain: series_id, from_time
-- Internal: public views build on it.
create or replace view ledger.owners_at_close as
with
rules as materialized (select * from ledger.rules_at_close),
facts as materialized (
  with
  --! include: facts_of_rules
),
hits as materialized (
  with
  --! include: conditions_met_by_facts
),
choices as materialized (
  with
  --! include: choices_of_rules
),
--! include: owners_of_choices
;
