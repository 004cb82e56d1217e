--! about: What was asked for the newest loads of an account in which a comparison of this kind was made.
select loads.queries
from ledger.loads as loads
join ledger.reconciliation as reconciliation using (load_number)
where loads.account = $account and reconciliation.check_code = $check_code
order by loads.load_number desc
limit 50;
