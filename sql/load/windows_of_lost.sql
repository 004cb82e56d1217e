--! about: The windows that a load had at the closes of months: its own description may be lost.
--! grain: account, window_start, window_end
with closed as (
  select
    account,
    unnest(
      from_json(covered, '[{"window_start": "TIMESTAMP", "window_end": "TIMESTAMP", "load_number": "BIGINT"}]'),
      recursive := true
    )
  from ledger.closes
  where covered is not null
)
select distinct
  account,
  epoch_ms(window_start) as window_start,
  epoch_ms(window_end) as window_end
from closed
where load_number = cast($load_number as bigint)
order by account, window_start, window_end
