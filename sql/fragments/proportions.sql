--! about: CTE proportions: each owner's part of a pool, from the CTE shares, and which parts are exact whole numbers.
proportions as (
  select
    *,
    parts_through = all_parts as is_last_owner,
    -- An owner of zero weight in last place starts at the full total. Doubles may miss its last digit, so it is exact
    -- here.
    parts_before = all_parts as is_after_all,
    cast(parts_through as double) / cast(all_parts as double) as ratio_through,
    cast(parts_before as double) / cast(all_parts as double) as ratio_before
  from shares
),
