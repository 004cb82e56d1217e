--! about: How far our clock was ahead at the last ingest that recorded it: the smallest value of its accounts. No row
--! about: if an account of that run found no fault with the clock.
with last_run as (select max(run_number) as run_number from ledger.clocks),
readings as (
  select clocks.account, clocks.ahead_seconds, clocks.local_at
  from ledger.clocks as clocks
  join last_run using (run_number)
)
select min(ahead_seconds) as ahead_seconds, epoch_ms(max(local_at)) as local_at
from readings
having count(*) > 0
  and not exists (
    select 1
    from ledger.account_runs as account_runs
    join last_run using (run_number)
    where account_runs.account not in (select account from readings)
  );
