--! about: The windows of the loads after those of an earlier state of the books ($state, the part `loads` of its text), and whether
--! about: the loads up to then are still the same.
with
earlier as (
  select cast(split_part($state, '/', 2) as bigint) as last_load, split_part($state, '/', 3) as hash
)
select
  (
    select coalesce(cast(sum(hash(loads)) as varchar), '')
    from ledger.loads
    where loads.load_number <= earlier.last_load
  ) = earlier.hash as is_same,
  (
    select list({'start': epoch_ms(loads.window_start), 'end': epoch_ms(loads.window_end)})
    from ledger.loads
    where loads.load_number > earlier.last_load
  ) as windows
from earlier
