--! about: What the report unallocated answers for a dimension and all accounts, from sums by day. Of a shared cost that
--! about: some owners without a value share, a resource has a part in proportion to its cost.
with unowned_parts as (
  select
    rule_number,
    account,
    sum(parts_through - parts_before) filter (json_extract_string(owner, '/' || $dimension) is null) as parts,
    max(all_parts) as all_parts
  from memory.main.shares
  where usage_month = cast($month as date)
  group by rule_number, account
),
unowned as (
  select
    day_costs.series_id,
    sum(
      case
        when not owners.is_split or unowned_parts.all_parts is null or unowned_parts.parts = unowned_parts.all_parts
          then day_costs.cost
        else cast(cast(day_costs.cost as double) * unowned_parts.parts / unowned_parts.all_parts as decimal(38, 12))
      end
    ) as cost
  from memory.main.day_costs as day_costs
  join memory.main.owners as owners using (series_id, from_time)
  join ledger.series as series using (series_id)
  left join unowned_parts on unowned_parts.rule_number = owners.rule_number and unowned_parts.account = series.account
  where day_costs.day >= cast($month as timestamp)
    and day_costs.day < cast($month as timestamp) + interval 1 month
    and case
      when owners.is_split then unowned_parts.all_parts is null or unowned_parts.parts is not null
      else json_extract_string(owners.owner, '/' || $dimension) is null
    end
  group by day_costs.series_id
),
states as (select series_id, from_time, labels from memory.main.states),
facts as (select series_id, from_time, field, value from memory.main.facts),
--! include: unowned_resources
;
