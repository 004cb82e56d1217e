--! about: What the platform's own clock said: hours that it had not reached are never complete, whatever ours says.

-- The platform's clock when the window was read, from the Date header of its answers; null where they had none.
alter table ledger.loads add column platform_at timestamp;

-- Loads that were read under a clock of ours that was fast: they claim no hour from claimed_end on.
create table ledger.claims_corrected (
  account varchar not null,
  load_number bigint not null,
  claimed_end timestamp not null,
  run_number bigint not null,
  recorded_at timestamp not null
);

-- How far our clock was ahead of the platform's: a row where it was more than an hour, and one where it was right again.
create table ledger.clocks (
  account varchar not null,
  run_number bigint not null,
  ahead_seconds bigint not null,
  -- The platform's clock, and ours.
  platform_at timestamp not null,
  local_at timestamp not null
);
