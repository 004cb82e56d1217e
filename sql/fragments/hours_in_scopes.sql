--! about: CTE hours_in_scopes (id, series_id, account, from_time, to_time, parts, all_parts): the hours of series that
--! about: belong to a scope with labels or owners, in full or as parts of all_parts. Follows series_in_scopes.
hours_with_facts as (
  select series_id, null as account, from_time, to_time, 1 as parts, 1 as all_parts, true as is_label, labels as facts
  from ledger.resources_of_series
  cross join scope_kinds
  where has_label
  union all
  select series_id, null, from_time, to_time, 1, 1, false, owner
  from ledger.allocation_owners
  cross join scope_kinds
  where has_owner and not is_split
  union all
  select
    owners.series_id,
    shares.account,
    greatest(owners.from_time, cast(shares.usage_month as timestamp)),
    least(owners.to_time, shares.usage_month + interval 1 month),
    shares.parts_through - shares.parts_before,
    shares.all_parts,
    false,
    shares.owner
  from ledger.allocation_owners as owners
  join ledger.allocation_shares as shares on shares.rule_number = owners.rule_number
  cross join scope_kinds
  where has_owner and owners.is_split
),
hours_in_scopes as (
  select
    wanted.id, wanted.series_id, wanted.account, hours.from_time, hours.to_time, hours.parts, hours.all_parts
  from (
    select id, series_id, account, true as is_label, label as entries from series_in_scopes where label is not null
    union all
    select id, series_id, account, false, owner from series_in_scopes where owner is not null
  ) as wanted
  join hours_with_facts as hours
    on hours.series_id = wanted.series_id
    and hours.is_label = wanted.is_label
    and coalesce(hours.account, wanted.account) = wanted.account
    and
    --! include: has_values
),
