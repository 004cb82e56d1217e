--! about: Removes what a query staged, because it restarts from its first page.
delete from staged_points where entry in (select entry from staged_entries where query = $query);
delete from staged_entries where query = $query;
delete from staged_queries where query = $query;
