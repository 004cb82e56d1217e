--! about: The tables that landing folder and journal give back: all of the ledger but what this program itself writes there.
select table_name
from duckdb_tables()
where database_name = 'wh' and schema_name = 'ledger'
  and table_name not in ('applied_files', 'journal', 'billing_dimensions', 'unit_suffixes')
order by table_name;
