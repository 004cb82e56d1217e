--! about: The owner of each series, by time: from the first allocation rule that matches. If that rule does not test the
--! about: type, name, uuid or billing dimension, a volume has the owner of the resources that mount it: they are in the same
--! about: workspace, and have the labels that a volume cannot have. Internal: public views build on it. A cost that a rule splits has no owner here, nor has a volume whose mounters have several owners:
--! about: mount_split then says how they share it, in the form of a rule's split, under a rule number above the default's.
--! grain: series_id, from_time
create or replace view ledger.allocation_owners as
with
choices as materialized (select * from ledger.allocation_choices),
rules as materialized (select rule_number, rule, split, dimensions from ledger.allocation_rules),
--! include: owners_of_choices
;
comment on view ledger.allocation_owners is 'Owner of each series, by time: from the first allocation rule that matches, or from the mounters of a volume';
