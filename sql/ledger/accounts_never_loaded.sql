--! about: The accounts that nothing was ever loaded of, except those given.
select distinct account
from ledger.accounts
where not list_contains(cast(from_json($except, '["VARCHAR"]') as varchar[]), account)
  and account not in (select account from ledger.loads);
