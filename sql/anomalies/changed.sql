--! about: The first day of each workspace, resource type and billing dimension whose cost was restated since the account's
--! about: last evaluation. Changes of less than a cent a day are ignored.
--! grain: account, workspace, resource_type, billing_dimension
with
--! include: series_by_access
evaluated as (
  select account, load_number
  from ledger.anomaly_evaluations
  qualify row_number() over (partition by account order by evaluated_through desc, recorded_at desc) = 1
),
moved as (
  select
    restatements.series_id,
    date_trunc('day', restatements.bucket_start) as usage_day,
    sum(coalesce(restatements.new_cost, 0) - coalesce(restatements.old_cost, 0)) as moved
  from ledger.restatements as restatements
  join evaluated
    on evaluated.account = restatements.account and restatements.load_number > evaluated.load_number
  where restatements.bucket_start >= cast($from as timestamp)
  group by restatements.series_id, usage_day
),
days as (
  select series.account, series.workspace, series.resource_type, series.billing_dimension, moved.usage_day
  from moved
  join series_by_access as series using (series_id)
  group by series.account, series.workspace, series.resource_type, series.billing_dimension, moved.usage_day
  having abs(sum(moved.moved)) >= 0.01
)
select account, workspace, resource_type, billing_dimension, epoch_ms(min(usage_day)) // 86400000 as first_day
from days
group by account, workspace, resource_type, billing_dimension
order by account, workspace nulls first, resource_type nulls first, billing_dimension nulls first
