--! about: The first and the last hour of each series, as of a load. It only saves reading every hour each night to plan
--! about: queries: it has no facts of its own, and a rebuilt warehouse fills it again.
create table ledger.series_hours (
  series_id ubigint not null,
  -- No hour is outside; after a correction to zero, there may be none at the limits.
  first_hour timestamp not null,
  last_hour timestamp not null,
  -- The load through which its hours were read.
  load_number bigint not null
);
