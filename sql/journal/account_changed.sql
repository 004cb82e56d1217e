--! about: The facts of an account from now on; earlier facts stay, with the instant at which they ended.
update ledger.accounts
set replaced_at = cast($recorded_at as timestamp)
where account = $account and replaced_at is null;

insert into ledger.accounts (
  account, name, history_start, settle_days, lag_hours, role, cost_decimals, usage_decimals, has_ended, recorded_at
)
select
  $account, $name, cast($history_start as timestamp), cast($settle_days as integer), cast($lag_hours as integer), $role,
  cast($cost_decimals as integer), cast($usage_decimals as integer), cast($has_ended as boolean), cast($recorded_at as timestamp);
