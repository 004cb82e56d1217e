--! about: Every account with loads has exactly one current row in the books.
--! severity: fail
with present_rows as (
  select account, count(*) filter (replaced_at is null) as present_rows
  from ledger.accounts
  group by account
  union all
  select distinct account, 0
  from ledger.loads
  where account not in (select account from ledger.accounts)
)
select account, present_rows
from present_rows
where present_rows <> 1
order by account
