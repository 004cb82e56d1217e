--! about: Who owns which series when, computed once for all partitions.
create or replace temp table lake_owners as
select * from ledger.allocation_owners;
