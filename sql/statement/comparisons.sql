--! about: How many comparisons with the platform's own totals support the month ($month), by account and check.
select
  account,
  check_code,
  cast(count(*) as bigint) as comparisons,
  cast(count(*) filter (proven) as bigint) as matching,
  cast(max(abs(difference)) filter (measure = 'cost') as decimal(38, 12)) as largest_difference
from reconciliation
where window_start < cast($month as date) + interval 1 month
  and window_end > cast($month as date)
group by account, check_code
order by account, check_code;
