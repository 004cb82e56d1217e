--! about: Removes accounts without any load that are no longer configured.
delete from ledger.accounts
where list_contains(cast(from_json($accounts, '["VARCHAR"]') as varchar[]), account);
