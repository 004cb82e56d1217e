--! about: The tables that can be rebuilt from landing folder and journal: all of the ledger except the program's own
--! about: facts, and what a night fills again.
select table_name
from duckdb_tables()
where database_name = 'wh' and schema_name = 'ledger'
  and table_name not in ('applied_files', 'journal', 'billing_dimensions', 'unit_suffixes', 'series_hours', 'cached_answers')
order by table_name;
