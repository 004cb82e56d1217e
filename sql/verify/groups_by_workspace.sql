--! about: How many pairs of workspace and billing dimension an account had in a window.
select count(distinct [workspace, billing_dimension]) as groups
from ledger.series
where series_id in (
  select series_id
  from ledger.hourly_costs
  where bucket_start >= cast($window_start as timestamp)
    and bucket_start < cast($window_end as timestamp)
)
  and account = $account;
