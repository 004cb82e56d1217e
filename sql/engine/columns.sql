--! about: The columns of every table and view of the books, in order.
select schema_name, table_name, column_name, data_type
from duckdb_columns()
where database_name = 'wh' and schema_name in ('main', 'ledger')
order by schema_name, table_name, column_index
