--! about: The macro rows_in: the objects of a JSON list as rows, with a column for each key of the shape. Journal events use it.
create or replace temp macro rows_in(list, shape) as table
select unnest(from_json(list, shape), recursive := true);
