--! about: Which load covered which hours, and from when to when, to derive complete through at any instant.
--! grain: account, window_start, known_from
select
  covered.account,
  epoch_ms(covered.window_start) as window_start,
  epoch_ms(least(covered.window_end, covered.claimed_end, claims.claimed_end)) as claimed_end,
  epoch_ms(covered.window_end) as window_end,
  epoch_ms(since.seen_at) as known_from,
  epoch_ms(until.seen_at) as known_until
from ledger.covered as covered
join ledger.loads as since on since.load_number = covered.since_load
left join ledger.loads as until on until.load_number = covered.replaced_by
left join (
  select load_number, min(claimed_end) as claimed_end
  from ledger.claims_corrected
  group by load_number
) as claims on claims.load_number = covered.load_number
order by covered.account, covered.window_start, known_from, known_until
