--! about: Whether the recorded facts of an account equal the given ones.
select 1 from ledger.accounts
where account = $account and replaced_at is null and name is not distinct from $name
  and history_start is not distinct from cast($history_start as timestamp)
  and settle_days = $settle_days and lag_hours = $lag_hours and role is not distinct from $role
  and cost_decimals = $cost_decimals and usage_decimals = $usage_decimals and has_ended is not true;
