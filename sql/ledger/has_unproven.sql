--! about: Whether any window of an account failed reconciliation when it was last fetched.
select count(*) > 0 as has_unproven from ledger.unproven where account = $account;
