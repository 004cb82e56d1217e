--! about: Which hours are in the books, by which load, read as whom.
--! grain: account, window_start
create or replace view coverage as
with claims as (
  select load_number, min(claimed_end) as claimed_end
  from ledger.claims_corrected
  group by load_number
),
covered as (
  select
    covered.account,
    covered.window_start,
    -- A fast clock asked for hours that the platform had not reached. least() passes over nulls.
    least(
      covered.window_end,
      date_trunc('hour', least(loads.platform_at, claims.claimed_end)) + interval 1 hour
    ) as window_end,
    least(covered.claimed_end, claims.claimed_end) as claimed_end,
    covered.role,
    covered.load_number,
    least(loads.seen_at, loads.platform_at, claims.claimed_end) as seen_at
  from ledger.covered as covered
  join ledger.loads as loads using (load_number)
  left join claims using (load_number)
  where covered.replaced_by is null
)
select
  account,
  window_start,
  window_end,
  least(window_end, greatest(window_start, claimed_end)) as claimed_end,
  role,
  load_number,
  seen_at
from covered
where window_start < window_end;
comment on view coverage is 'Which hours are in the books, by which load: disjoint windows, one row each';
comment on column coverage.account is 'Account that pays';
comment on column coverage.window_start is 'First hour, UTC';
comment on column coverage.window_end is 'End of the last hour, UTC, exclusive';
comment on column coverage.claimed_end is 'Hours from here on were fetched while still too young to be called complete';
comment on column coverage.role is 'As whom the platform was asked: admin or member';
comment on column coverage.load_number is 'Load that wrote or last proved these hours';
comment on column coverage.seen_at is 'When that load saw the numbers of the platform, UTC: by our clock or by that of the platform, whichever is earlier';
