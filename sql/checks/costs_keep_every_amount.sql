--! about: The joins of costs lose no amount, multiply none and change none, for each account.
--! severity: fail
with loaded as (
  select account, count(*) as amounts, sum(cost) as cost, sum(usage) as usage
  from ledger.amounts
  group by account
),
shown as (
  select account, count(*) as amounts, sum(cost) as cost, sum(usage) as usage
  from costs
  group by account
)
select
  coalesce(loaded.account, shown.account) as account,
  loaded.amounts as loaded_amounts,
  shown.amounts as shown_amounts,
  loaded.cost as loaded_cost,
  shown.cost as shown_cost,
  loaded.usage as loaded_usage,
  shown.usage as shown_usage
from loaded
full outer join shown using (account)
where loaded.amounts is distinct from shown.amounts
  or loaded.cost is distinct from shown.cost
  or loaded.usage is distinct from shown.usage
order by account
