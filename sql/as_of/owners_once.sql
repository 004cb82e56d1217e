--! about: The owners of a past as a table, which the views over them read.
create table ledger.owners_found as select * from ledger.allocation_owners;

create or replace view ledger.allocation_owners as select * from ledger.owners_found;
