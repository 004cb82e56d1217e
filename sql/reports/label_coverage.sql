--! about: What share of each month's cost has each label, and does it grow?
--! grain: account, month, label
--! params: from date = none, to date = none, account text = *
--! formats: csv, parquet
--! top: month
--! important: month, label, labelled_share, labelled_cost, cost, account, month
-- Covers every label that a resource has or a rule reads. Costs of resources that no listing has count as unlabelled.
with hours as (
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
  group by account, month, workspace, resource_type, resource_name, resource_uuid, labels
),
--! include: labelled_costs
