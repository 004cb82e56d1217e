--! about: What each allocation rule in force catches in a period: cost, share, resources and hours.
--! about: A bound that is null is open.
with owners as materialized (select * from ledger.series_owners),
pieces as (
  select
    owners.rule_number, amounts.series_id,
    sum(amounts.cost) as cost, min(amounts.bucket_start) as first_hour, max(amounts.bucket_start) as last_hour
  from ledger.amounts as amounts
  join owners on owners.series_id = amounts.series_id
  where amounts.bucket_start >= owners.from_time and amounts.bucket_start < owners.to_time
    and ($from is null or amounts.bucket_start >= cast($from as timestamp))
    and ($to is null or amounts.bucket_start < cast($to as timestamp))
  group by owners.rule_number, amounts.series_id
),
caught as (
  select
    pieces.rule_number,
    sum(pieces.cost) as cost,
    count(distinct (series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid))
      as resources,
    min(pieces.first_hour) as first_hour,
    max(pieces.last_hour) as last_hour
  from pieces
  join ledger.series as series using (series_id)
  group by pieces.rule_number
)
select
  rules.rule,
  rules.split.by as split_by,
  cast(coalesce(caught.cost, 0) as decimal(38, 12)) as cost,
  cast(coalesce(caught.cost, 0) / nullif(sum(caught.cost) over (), 0) as decimal(18, 6)) as share,
  coalesce(caught.resources, 0) as resources,
  strftime(caught.first_hour, '%Y-%m-%dT%H:%M:%SZ') as first_hour,
  strftime(caught.last_hour, '%Y-%m-%dT%H:%M:%SZ') as last_hour
from ledger.allocation_rules as rules
left join caught using (rule_number)
order by rules.rule_number;
