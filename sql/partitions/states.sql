--! about: The states of resources by series, computed once for all partitions.
create or replace temp table lake_states as
select * from ledger.resources_of_series;
