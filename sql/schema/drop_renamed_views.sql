--! about: Drops internal views that have other names now.
drop view if exists ledger.late_changes;
drop view if exists ledger.series_owners;
drop view if exists ledger.allocation_hits;
