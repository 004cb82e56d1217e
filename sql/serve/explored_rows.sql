--! about: The rows of a download of explore, one per bucket and group: they are added to this table and written from it.
create or replace temp table explored_rows (
  bucket_start timestamp,
  bucket_end timestamp,
  is_complete boolean,
  dimension varchar,
  group_name varchar,
  is_rest boolean,
  cost decimal(38, 12),
  usage decimal(38, 6),
  unit varchar,
  usd_per_unit decimal(38, 12),
  cost_before decimal(38, 12),
  usage_before decimal(38, 6)
);
