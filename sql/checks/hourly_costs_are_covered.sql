--! about: Every hourly cost belongs to a covered hour and starts on the hour.
--! severity: fail
--! hours: by month
-- Few hours hold many rows, so count per hour first, with a number instead of the account.
with account_numbers as (
  select series_id, account, dense_rank() over (order by account) as account_number
  from ledger.series
),
numbered_hours as (
  select
    account_numbers.account_number,
    hourly_costs.bucket_start,
    count(*) as row_count,
    sum(hourly_costs.cost) as cost
  from ledger.hourly_costs as hourly_costs
  join account_numbers using (series_id)
  group by account_numbers.account_number, hourly_costs.bucket_start
),
loaded_hours as (
  select accounts.account, numbered_hours.bucket_start, numbered_hours.row_count, numbered_hours.cost
  from numbered_hours
  join (select distinct account_number, account from account_numbers) as accounts using (account_number)
),
covered as (
  select account, window_start, window_end
  from ledger.covered
  where replaced_by is null
)
select loaded_hours.account, loaded_hours.bucket_start, loaded_hours.row_count, loaded_hours.cost
from loaded_hours
left join covered
  on loaded_hours.account = covered.account
  and loaded_hours.bucket_start >= covered.window_start
  and loaded_hours.bucket_start < covered.window_end
where covered.account is null
  or loaded_hours.bucket_start <> date_trunc('hour', loaded_hours.bucket_start)
order by loaded_hours.account, loaded_hours.bucket_start
