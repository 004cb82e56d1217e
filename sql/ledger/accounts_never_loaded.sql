--! about: The accounts without any load, except the given ones.
select distinct account
from ledger.accounts
where not list_contains(cast(from_json($except, '["VARCHAR"]') as varchar[]), account)
  and account not in (select account from ledger.loads);
