--! about: Accounts of which nothing was ever loaded and that are configured no longer.
delete from ledger.accounts
where list_contains(cast(from_json($accounts, '["VARCHAR"]') as varchar[]), account);
