--! about: What each active allocation rule matches in a period: cost, share, resources and hours. Then, in one row, the
--! about: volumes whose mounters have several owners, if there are any.
--! about: A null bound is open.
with
--! include: few_owners
parts as (
  select
    owners.rule_number, hourly_costs.series_id,
    sum(hourly_costs.cost) as cost, min(hourly_costs.bucket_start) as first_hour, max(hourly_costs.bucket_start) as last_hour
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  where hourly_costs.bucket_start >= owners.from_time and hourly_costs.bucket_start < owners.to_time
    and ($from is null or hourly_costs.bucket_start >= cast($from as timestamp))
    and ($to is null or hourly_costs.bucket_start < cast($to as timestamp))
  group by owners.rule_number, hourly_costs.series_id
),
caught as (
  select
    coalesce(rules.rule_number, 0) as rule_number,
    sum(parts.cost) as cost,
    count(distinct (series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid))
      as resources,
    min(parts.first_hour) as first_hour,
    max(parts.last_hour) as last_hour
  from parts
  join ledger.series as series using (series_id)
  left join ledger.allocation_rules as rules using (rule_number)
  group by coalesce(rules.rule_number, 0)
),
listed as (
  select rule_number, rule, split.by as split_by from ledger.allocation_rules
  union all
  select rule_number, 'volumes with several owners', 'mounts' from caught where rule_number = 0
)
select
  listed.rule,
  listed.split_by,
  cast(coalesce(caught.cost, 0) as decimal(38, 12)) as cost,
  cast(coalesce(caught.cost, 0) / nullif(sum(caught.cost) over (), 0) as decimal(18, 6)) as share,
  coalesce(caught.resources, 0) as resources,
  strftime(caught.first_hour, '%Y-%m-%dT%H:%M:%SZ') as first_hour,
  strftime(caught.last_hour, '%Y-%m-%dT%H:%M:%SZ') as last_hour
from listed
left join caught using (rule_number)
order by listed.rule_number = 0, listed.rule_number
