--! about: The rules that several steps of a load share, once each, on the connection that loads.

-- 64 bits of md5 over the dimensions as a JSON list, in which absent, empty and quoted values stay apart.
-- Not hash(): its values may change from one DuckDB version to the next.
create or replace temp macro series_id_of(account, workspace, resource_type, resource_name, resource_uuid, billing_dimension) as
  md5_number_lower(cast(to_json([account, workspace, resource_type, resource_name, resource_uuid, billing_dimension]) as varchar));

-- How far apart two sums of the same hours may be and still agree, in whatever order and groups the platform adds:
--   2 × (hours + 3600) × 2^-53 × sum of |hour|: n doubles, added in any order, are off by at most (n - 1) × 2^-53 × sum of
--     |number|, and by one more 2^-53 when the result is written. Either side may be such a sum. The 3600 are for what lies
--     beneath an hour, such as a sum over its seconds or a row that merges several resources;
--   (2 × hours + roundings) × kept_unit: each number is rounded once to the last decimal that we keep, and an hour of ours
--     may be the one that is_same_hour let stand;
--   roundings × half_unit: the sums that the platform itself rounded to the last decimal that its totals carry (of n that
--     make a total, n: the rounded sums are whole units of that decimal, and so is the total).
-- An amount agreed by hand (proof.tolerance, USD; null where there is none) replaces all three.
-- Of 10^6 USD in 10^7 hours this is 0.0022 USD: a cent is always found.
create or replace temp macro tolerance_of(hours, sum_of_magnitudes, stored_unit, half_unit, roundings, agreed) as
  coalesce(
    cast(agreed as double),
    2 * (cast(hours as double) + 3600) * 1.1102230246251565e-16 * cast(sum_of_magnitudes as double)
    + (2 * cast(hours as double) + cast(roundings as double)) * cast(stored_unit as double)
    + cast(roundings as double) * cast(half_unit as double)
  );

-- Of a total's lowest and highest telling, the one that is farther from ours: where it agrees, both do.
create or replace temp macro farther_of(ours, lowest, highest) as
  case when abs(ours - lowest) > abs(ours - highest) then lowest else highest end;

-- Whether two readings of one hour are the same: a row that the platform adds up of several may come a little differently
-- each time. By half of the 3600 above, so that hours that stay as they were still prove.
create or replace temp macro is_same_hour(amount, other, stored_unit) as
  abs(cast(amount - other as double)) <= stored_unit + 3600 * 1.1102230246251565e-16 * abs(cast(amount as double));
