--! about: What the ledger records about an account.
select
  epoch_ms(history_start) as history_start, role, cost_decimals, usage_decimals,
  exists (select 1 from ledger.loads where account = $account and row_count > 0) as has_hourly_costs
from ledger.accounts where account = $account and replaced_at is null;
