--! about: Where totals of the past are put beside the books; on the connection of one verification only.
create or replace temp table asked_buckets (
  query integer not null,
  bucket integer not null,
  bucket_start timestamp not null
);
-- One bucket of one group of one question, with both sums.
create or replace temp table compared_past (
  query integer not null,
  billing_dimension varchar,
  workspace varchar,
  resource_type varchar,
  resource_name varchar,
  resource_uuid varchar,
  bucket_start timestamp not null,
  -- Rows without uuid that the answer leaves out, as it may where uuids are asked for ("best effort").
  is_left_out boolean not null,
  -- The hours of ours that are added up, and the sums of their magnitudes.
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
