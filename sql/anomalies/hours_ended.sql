--! about: The instant through which the hours of each account have ended and were fetched. The last of them may be too young to
--! about: be complete.
--! grain: account
select
  accounts.account,
  epoch_ms(max(least(covered.window_end, covered.claimed_end + to_hours(accounts.lag_hours)))) as ended_through
from ledger.accounts as accounts
join ledger.covered as covered using (account)
where accounts.replaced_at is null and covered.replaced_by is null
group by accounts.account
order by accounts.account
