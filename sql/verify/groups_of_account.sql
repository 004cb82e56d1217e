--! about: How many pairs of workspace and billing dimension an account ever had: no window has more, and no hour is read.
select count(distinct [workspace, billing_dimension]) as groups
from ledger.series
where account = $account;
