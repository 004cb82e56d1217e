--! about: What did each resource cost in the month, what share of the account is that, and from when to when?
--! for: teams
--! grain: account, month, workspace, resource_type, resource_name, resource_uuid
--! params: month month = last-complete, account text = *, workspace text = *, labels text = *
--! top: cost
--! without: corrections
--! important: resource_name, cost, workspace, resource_type, share_of_account, account, month
-- With labels (team,env), each label adds a column with its last value in the month. The costs are those of the month's
-- own hours. What the month bills besides is not here: corrections of earlier months, and a difference to an invoice. The
-- answer names them.
with added_up as (
  select
    series_id,
    sum(cost) as cost,
    min(bucket_start) filter (where cost <> 0) as first_bucket,
    max(bucket_start) filter (where cost <> 0) as last_bucket
  from hourly_costs
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
  group by series_id
),
resources as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    cast(sum(added_up.cost) as decimal(38, 12)) as cost,
    cast(min(added_up.first_bucket) as date) as first_cost_date,
    cast(max(added_up.last_bucket) as date) as last_cost_date
  from added_up
  join series using (series_id)
  where $account is null or series.account = $account
  group by
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid
),
labels_of_month as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    arg_max(states.labels, states.from_time) as labels
  from ledger.resources_of_series as states
  join series using (series_id)
  where $labels is not null
    and states.from_time < cast($month as timestamp) + interval 1 month
    and states.to_time > cast($month as timestamp)
  group by all
),
totals as (
  select account, sum(cost) as cost
  from resources
  group by account
)
select
  resources.account,
  cast($month as date) as month,
  resources.workspace,
  resources.resource_type,
  resources.resource_name,
  resources.resource_uuid,
  resources.cost,
  -- The share is of the whole account, even if the report is for one workspace; null if the account cost nothing.
  cast(resources.cost / nullif(totals.cost, 0) as decimal(18, 6)) as share_of_account,
  resources.first_cost_date,
  resources.last_cost_date,
  labels_of_month.labels
from resources
join totals using (account)
left join labels_of_month
  on labels_of_month.account = resources.account
  and labels_of_month.workspace is not distinct from resources.workspace
  and labels_of_month.resource_type is not distinct from resources.resource_type
  and labels_of_month.resource_name is not distinct from resources.resource_name
  and labels_of_month.resource_uuid is not distinct from resources.resource_uuid
where $workspace is null or resources.workspace = $workspace
