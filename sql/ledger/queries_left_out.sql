--! about: What was asked for the newest loads of an account in which a comparison of this kind was made.
select loads.queries
from ledger.loads as loads
join ledger.proofs as proofs using (load_number)
where loads.account = $account and proofs.compared = $compared
order by loads.load_number desc
limit 50;
