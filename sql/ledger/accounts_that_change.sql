--! about: The accounts that runs read from now on and did not, or the other way round, by the configured ones ($configured): their
--! about: facts as account_changed stores them, whether they have ended, and whether they have any load.
select
  account, name, strftime(history_start, '%Y-%m-%dT%H:%M:%SZ') as history_start, settle_days, lag_hours, role, cost_decimals,
  usage_decimals, has_ended is not true as has_ended, account in (select account from ledger.loads) as is_loaded
from ledger.accounts
where replaced_at is null
  and coalesce(has_ended, false) = list_contains(cast(from_json($configured, '["VARCHAR"]') as varchar[]), account);
