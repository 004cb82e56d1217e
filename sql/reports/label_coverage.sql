--! about: What share of each month's cost has each label, and does it grow?
--! for: teams
--! grain: account, month, label
--! params: from date = none, to date = none, account text = *
--! top: month
--! important: month, label, labelled_share, labelled_cost, cost, account, month
-- Covers every label that a resource has or a rule reads. A volume counts with the labels of the resources that mount it,
-- in equal parts. Other costs of resources that no listing has count as unlabelled.
with volume_hours as (
  select hourly_costs.series_id, hourly_costs.bucket_start, hourly_costs.cost
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  where series.resource_type = 'volume'
    and ($from is null or hourly_costs.bucket_start >= cast($from as timestamp))
    and ($to is null or hourly_costs.bucket_start < cast($to as timestamp))
    and ($account is null or series.account = $account)
),
--! include: hours_of_mounts
hours as (
  select
    account,
    cast(date_trunc('month', bucket_start) as date) as month,
    workspace,
    resource_type,
    resource_name,
    resource_uuid,
    labels,
    sum(cost) as cost
  from costs_with_resources
  where ($from is null or bucket_start >= cast($from as timestamp))
    and ($to is null or bucket_start < cast($to as timestamp))
    and ($account is null or account = $account)
    and series_id not in (select series_id from mounted)
  group by account, month, workspace, resource_type, resource_name, resource_uuid, labels
  union all
  select account, month, workspace, resource_type, resource_name, resource_uuid, labels, cost
  from mounted_hours
),
--! include: labelled_costs
