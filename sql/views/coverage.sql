--! about: Hours in the books and the loads that stored them: windows without overlap, one row each.
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
    -- A fast clock fetched hours that the platform had not reached. least() ignores nulls.
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
  window_start, --: Start of the first hour, UTC
  window_end, --: End of the last hour, UTC, exclusive
  least(window_end, greatest(window_start, claimed_end)) as claimed_end, --: Hours from this instant on were fetched too early to count as complete, UTC
  role, --: Role of the token that queried the platform: admin or member
  load_number, --: Load that stored these hours or last proved them
  seen_at --: When that load received the platform's numbers, UTC: by our clock or the platform's, whichever is earlier
from covered
where window_start < window_end;
