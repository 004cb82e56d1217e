--! about: What did each workspace spend in the month, and on what?
--! for: teams
--! grain: account, month, workspace, resource_type, billing_dimension, unit
--! params: month month = last-complete, account text = *, workspace text = *
--! top: cost
--! without: corrections
--! important: workspace, cost, billing_dimension, usage, unit, account, month
-- The costs of the month's own hours. What the month bills besides is not here: corrections of earlier months, and a
-- difference to an invoice. The answer names them.
with added_up as (
  select series_id, sum(cost) as cost, sum(usage) as usage
  from hourly_costs
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
  group by series_id
)
select
  series.account,
  cast($month as date) as month,
  series.workspace,
  series.resource_type,
  series.billing_dimension,
  series.unit,
  cast(sum(added_up.usage) as decimal(38, 6)) as usage,
  cast(sum(added_up.cost) as decimal(38, 12)) as cost
from added_up
join series using (series_id)
where ($account is null or series.account = $account)
  and ($workspace is null or series.workspace = $workspace)
group by
  series.account,
  series.workspace,
  series.resource_type,
  series.billing_dimension,
  series.unit
