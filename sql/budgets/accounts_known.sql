--! about: The known start of each account's books, and from when to when it was known.
--! grain: account, known_from
select
  account,
  epoch_ms(history_start) as history_start,
  epoch_ms(recorded_at) as known_from,
  epoch_ms(replaced_at) as known_until
from ledger.accounts
order by account, recorded_at, replaced_at
