--! about: Every amount lies in an hour that is in the books, at the start of the hour.
--! severity: fail
-- Few hours hold many amounts: they are counted first.
with loaded_hours as (
  select account, bucket_start, count(*) as amounts, sum(cost) as cost
  from ledger.amounts
  group by account, bucket_start
),
covered as (
  select account, window_start, window_end
  from ledger.covered
  where replaced_by is null
)
select loaded_hours.account, loaded_hours.bucket_start, loaded_hours.amounts, loaded_hours.cost
from loaded_hours
left join covered
  on loaded_hours.account = covered.account
  and loaded_hours.bucket_start >= covered.window_start
  and loaded_hours.bucket_start < covered.window_end
where covered.account is null
  or loaded_hours.bucket_start <> date_trunc('hour', loaded_hours.bucket_start)
order by loaded_hours.account, loaded_hours.bucket_start
