--! about: The loads that cover hours of an account, were fetched under a clock more than an hour ahead of $platform_at,
--! about: and do not record the platform's clock; each with the hour from which on its numbers do not count as
--! about: complete.
with speaking as (
  select distinct load_number
  from ledger.covered
  where account = $account and replaced_by is null
),
fast as (
  select loads.load_number, loads.window_start, loads.window_end
  from ledger.loads as loads
  join speaking using (load_number)
  where loads.account = $account
    and loads.platform_at is null
    and loads.seen_at > cast($platform_at as timestamp) + interval 1 hour
    and loads.load_number not in (select load_number from ledger.claims_corrected where account = $account)
),
-- Such a load came after every load under a correct clock, and after the last hour in which it shows costs.
trusted as (
  select max(loads.seen_at) as seen_at
  from ledger.loads as loads
  where loads.account = $account
    and loads.seen_at <= cast($platform_at as timestamp)
    and loads.load_number < (select min(load_number) from fast)
),
last_hours as (
  select hourly_costs.load_number, max(hourly_costs.bucket_start) as last_hour
  from ledger.hourly_costs as hourly_costs
  where hourly_costs.load_number in (select load_number from fast)
    and hourly_costs.bucket_start < cast($platform_at as timestamp)
  group by hourly_costs.load_number
)
select
  fast.load_number,
  strftime(
    date_trunc(
      'hour',
      least(
        cast($platform_at as timestamp),
        coalesce(greatest(trusted.seen_at, last_hours.last_hour), fast.window_start)
      )
    ),
    '%Y-%m-%dT%H:%M:%SZ'
  ) as claimed_end
from fast
cross join trusted
left join last_hours using (load_number)
order by fast.load_number;
