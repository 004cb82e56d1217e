--! about: Tables that compare past totals with the books; they exist on the connection of one verification only.
create or replace temp table asked_buckets (
  query integer not null,
  bucket integer not null,
  bucket_start timestamp not null
);
-- One bucket of one group of one query, with both sums.
create or replace temp table compared_past (
  query integer not null,
  billing_dimension varchar,
  workspace varchar,
  resource_type varchar,
  resource_name varchar,
  resource_uuid varchar,
  bucket_start timestamp not null,
  -- Rows without UUID that the answer may omit when UUIDs are queried ("best effort").
  is_left_out boolean not null,
  -- Our hours in the sum, and the sums of their magnitudes.
  row_count bigint not null,
  cost_magnitude decimal(38, 12) not null,
  usage_magnitude decimal(38, 6) not null,
  our_cost decimal(38, 12) not null,
  their_cost decimal(38, 12) not null,
  our_usage decimal(38, 6) not null,
  their_usage decimal(38, 6) not null,
  cost_tolerance double not null,
  usage_tolerance double not null
);
