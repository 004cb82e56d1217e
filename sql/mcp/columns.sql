--! about: The columns of one view, with their types and meanings.
select column_name as "column", data_type as type, comment as meaning
from duckdb_columns()
where schema_name = 'main' and table_name = $view
order by column_index;
