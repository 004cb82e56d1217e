--! about: What the platform lists as dimensions and resource types of costs, read once a week. A list that it does not
--! about: serve is null.
create table ledger.platform_lists (
  account varchar not null,
  run_number bigint not null,
  read_at timestamp not null,
  -- JSON lists of names.
  dimensions varchar,
  resource_types varchar
);
