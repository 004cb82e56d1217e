--! about: A listing that was read to its last page has how many items fewer it has than its total says. Those of earlier
--! about: versions do not have it.
alter table ledger.listings add column shortfall bigint;
