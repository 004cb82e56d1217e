--! about: The names and display names of all resources in the books.
select distinct resource_name as name from ledger.series where resource_name is not null
union select distinct display_name from ledger.resources where display_name is not null
order by name;
