--! about: Like steps, for scopes that name owners: their direct cost and share of shared cost by the allocation rules. Shared cost
--! about: is split by month: only the months of the steps are read.
--! grain: scope, step
with
--! include: scopes
--! include: series_in_scopes
--! include: few_owners
--! include: cut_of_steps
--! include: hours_of_months
counted_hours as not materialized (select * from hours_of_months),
shares as materialized (
  with
  --! include: shares_in_hours
),
owned as (
  select series_id, null as account, from_time, to_time, 1 as parts, 1 as all_parts, owner as facts
  from owners
  where not is_split
  union all
  select
    owners.series_id,
    shares.account,
    greatest(owners.from_time, cast(shares.usage_month as timestamp)),
    least(owners.to_time, shares.usage_month + interval 1 month),
    shares.parts_through - shares.parts_before,
    shares.all_parts,
    shares.owner
  from owners
  join shares on shares.rule_number = owners.rule_number
  where owners.is_split
),
members as (
  select wanted.id, wanted.series_id, owned.from_time, owned.to_time, owned.parts, owned.all_parts
  from (select id, series_id, account, owner as entries from series_in_scopes) as wanted
  join owned
    on owned.series_id = wanted.series_id
    and coalesce(owned.account, wanted.account) = wanted.account
    and
    --! include: has_values
),
--! include: steps_of_members
