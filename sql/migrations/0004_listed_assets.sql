--! about: Volumes, images, snapshots, domains, connections, people and workspaces are listed too: sizes, what a volume is
--! about: attached to, and of items that are read in full one by one, the update that was read.
alter table ledger.resources add column size_bytes bigint;
alter table ledger.resources add column attached_to varchar;
alter table ledger.resource_use add column details_of timestamp;
