--! about: Rules that several steps of a load share, defined once on the loading connection.

-- 64 bits of MD5 over the dimensions as a JSON list, which keeps missing, empty and quoted values apart.
-- Not hash(): its values may change from one DuckDB version to the next.
create or replace temp macro series_id_of(account, workspace, resource_type, resource_name, resource_uuid, billing_dimension) as
  md5_number_lower(cast(to_json([account, workspace, resource_type, resource_name, resource_uuid, billing_dimension]) as varchar));

-- The largest difference of two sums over the same hours that rounding explains, in any order and grouping:
--   2 × (hours + 3600) × 2^-53 × sum of |hour|: a sum of n doubles, in any order, is off by at most (n - 1) × 2^-53 × sum
--     of |number|, and by one more 2^-53 when it is written. Both sides may be such sums. The 3600 covers sums below the
--     hour, such as over its seconds or over several resources that the platform merges into one row;
--   (2 × hours + roundings) × stored_unit: each number is rounded once to the last decimal that we store, and one of our
--     hours may be an older value that is_same_hour accepted;
--   roundings × half_unit: the sums that the platform rounded to the last decimal of its totals (n for a total of n
--     rounded sums: each is a whole number of that decimal, and so is the total).
-- An agreed amount (proof.tolerance, USD; null if there is none) replaces all three.
-- For 10^6 USD in 10^7 hours this is 0.0022 USD: a difference of one cent is always found.
create or replace temp macro tolerance_of(hours, sum_of_magnitudes, stored_unit, half_unit, roundings, agreed) as
  coalesce(
    cast(agreed as double),
    2 * (cast(hours as double) + 3600) * 1.1102230246251565e-16 * cast(sum_of_magnitudes as double)
    + (2 * cast(hours as double) + cast(roundings as double)) * cast(stored_unit as double)
    + cast(roundings as double) * cast(half_unit as double)
  );

-- Of the lowest and highest total that the pages report, the one farther from ours: if that one matches, both do.
create or replace temp macro farther_of(ours, lowest, highest) as
  case when abs(ours - lowest) > abs(ours - highest) then lowest else highest end;

-- Whether two values of one hour are the same: a row that the platform adds up from several may differ a little each
-- time. Allows half of the 3600 above, so that unchanged hours still reconcile.
create or replace temp macro is_same_hour(amount, other, stored_unit) as
  abs(cast(amount - other as double)) <= stored_unit + 3600 * 1.1102230246251565e-16 * abs(cast(amount as double));
