--! about: The functions of DuckDB that a person may call in a query, with their parameters and the first sentence of what
--! about: each does.
select
  function_name as name,
  arg_min(array_to_string(parameters, ', '), len(parameters)) as parameters,
  any_value(regexp_extract(description, '^[^.]{0,120}')) as about
from duckdb_functions()
where function_type in ('scalar', 'aggregate')
  and description is not null
  and regexp_matches(function_name, '^[a-z][a-z0-9_]*$')
group by function_name
order by function_name;
