--! about: How many of the resources with costs in the last 30 days a listing showed, when listings were last read, and what gave
--! about: the costs their owners, by account; unlisted: the costs of resources that no listing ever showed, by workspace.
--! about: What gives an owner: labels (a rule that reads what a listing says of the resource), mounts (the resources that mount
--! about: the volume), names (a rule by name, type, workspace or another field of the cost), default (no rule).
--! grain: account
with
--! include: few_owners
rule_sources as (
  select
    rule_number,
    case
      when condition_count = 0 then 'default'
      when list_bool_or(
        list_transform(
          conditions,
          lambda condition : condition.kind <> 'absent'
            and condition.field not in (
              'account', 'workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'
            )
        )
      ) or coalesce(list_bool_or(list_transform(owner, lambda entry : entry.label is not null)), false) then 'labels'
      else 'names'
    end as source
  from ledger.allocation_rules
),
costs_by_rule as (
  select hourly_costs.series_id, owners.rule_number, owners.is_mounted, sum(hourly_costs.cost) as cost
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  join accounts using (account)
  join owners
    on owners.series_id = hourly_costs.series_id
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  where hourly_costs.bucket_start >= accounts.complete_through - interval 30 days
    and hourly_costs.bucket_start < accounts.complete_through
  group by all
),
listed_names as (
  select distinct account, workspace, resource_type, resource_name from ledger.resources
),
owner_sources as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    case when costs_by_rule.is_mounted then 'mounts' else rule_sources.source end as source,
    case
      when series.resource_type in (select resource_type from listings where outcome = 'read')
        then exists (
          from listed_names
          where listed_names.account = series.account
            and listed_names.resource_type = series.resource_type
            and listed_names.resource_name = series.resource_name
            and (series.workspace is null or listed_names.workspace = series.workspace)
        )
    end as is_listed,
    sum(costs_by_rule.cost) as cost
  from costs_by_rule
  join ledger.series as series using (series_id)
  left join rule_sources using (rule_number)
  group by all
),
readings as (
  -- A workspace that is gone is no longer asked for: its last listing stays as old as it is.
  select account, max(read_at) as listed_at
  from listings
  where is_last and outcome in ('read', 'shrunk', 'partial')
    and resource_type in (select resource_type from owner_sources)
  group by account
),
unlisted as (
  select account, list({'workspace': workspace, 'cost': cast(cost as varchar)} order by cost desc, workspace) as workspaces
  from (
    select account, workspace, cast(sum(cost) as decimal(38, 12)) as cost
    from owner_sources
    where not is_listed
    group by account, workspace
  )
  where cost > 0
  group by account
),
counted as (
  select account, count(*) as expected, count(*) filter (is_listed) as listed
  from (select distinct account, workspace, resource_type, resource_name, is_listed from owner_sources)
  where is_listed is not null
  group by account
),
sources as (
  select account, source, cast(sum(cost) as decimal(38, 12)) as cost
  from owner_sources
  group by account, source
)
select
  sources.account,
  any_value(counted.expected) as expected,
  any_value(counted.listed) as listed,
  epoch_ms(date_trunc('second', any_value(readings.listed_at))) as listed_at,
  to_json(any_value(unlisted.workspaces)) as unlisted,
  -- The default rule is one of them.
  (select count(*) from ledger.allocation_rules) as rules,
  to_json(list({'source': sources.source, 'cost': cast(sources.cost as varchar)} order by sources.source)) as sources
from sources
left join counted on counted.account = sources.account
left join readings on readings.account = sources.account
left join unlisted on unlisted.account = sources.account
group by sources.account
order by sources.account
