--! about: When the newest load of what a month bills was received. Corrections are in hours of earlier months.
with hours as (
  select
    account,
    cast($month as timestamp) as first_hour,
    cast($month as timestamp) + interval 1 month as last_hour
  from accounts
  union all
  select account, min(bucket_start), max(bucket_end)
  from costs_billed
  where billing_month = cast($month as date) and charge_class = 'Correction'
  group by account
)
select strftime(max(coverage.seen_at), '%Y-%m-%dT%H:%M:%SZ') as seen_at
from coverage
join hours using (account)
where coverage.window_start < hours.last_hour and coverage.window_end > hours.first_hour;
