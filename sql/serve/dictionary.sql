--! about: The views that a person can query, with their columns in order and what each means.
select
  columns.table_name as view_name,
  views.comment as view_comment,
  columns.column_name,
  columns.data_type,
  columns.comment
from duckdb_columns() as columns
join duckdb_views() as views
  on views.database_name = columns.database_name
  and views.schema_name = columns.schema_name
  and views.view_name = columns.table_name
where columns.database_name = 'wh' and columns.schema_name = 'main' and not views.internal
order by columns.table_name, columns.column_index;
