--! about: Owner of each series, by time: from the first allocation rule that matches, or from the mounters of a volume.
--! grain: series_id, from_time
-- If that rule does not test the type, name, uuid or billing dimension, a volume has the owner of the resources that
-- mount it: they are in the same workspace, and have the labels that a volume cannot have. Internal: public views build
-- on it. A cost that a rule splits has no owner here, nor has a volume whose mounters have several owners: mount_split
-- then says how they share it, in the form of a rule's split, under a rule number above the default's.
create or replace view ledger.allocation_owners as
with
choices as materialized (select * from ledger.allocation_choices),
rules as materialized (select rule_number, rule, split, dimensions from ledger.allocation_rules),
--! include: owners_of_choices
;
