--! about: The queries of an account's newest loads that have a comparison of this kind.
select loads.queries
from ledger.loads as loads
join ledger.reconciliation as reconciliation using (load_number)
where loads.account = $account and reconciliation.check_code = $check_code
order by loads.load_number desc
limit 50;
