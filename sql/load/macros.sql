--! about: The two rules that several steps of a load share, once each, on the connection that loads.

-- 64 bits of md5 over the dimensions as a JSON list, in which absent, empty and quoted values stay apart.
-- Not hash(): its values may change from one DuckDB version to the next.
create or replace temp macro series_id_of(account, workspace, resource_type, resource_name, resource_uuid, billing_dimension) as
  md5_number_lower(cast(to_json([account, workspace, resource_type, resource_name, resource_uuid, billing_dimension]) as varchar));

-- How far the sum of our amounts may lie from the platform's own total and still prove it:
--   amounts × kept_unit: each amount is rounded once to the last decimal that we keep;
--   (amounts + 1) × 2^-53 × sum of |amount|: the platform adds doubles and writes a double;
--   half_unit: half of the last decimal that the platform's own totals carry, as it rounds them.
-- What was agreed by hand (proof.tolerance, USD; null where nothing was) stands instead of all three.
create or replace temp macro tolerance_of(amounts, sum_of_magnitudes, kept_unit, half_unit, agreed) as
  coalesce(
    cast(agreed as double),
    cast(amounts as double) * cast(kept_unit as double)
    + (cast(amounts as double) + 1) * 1.1102230246251565e-16 * cast(sum_of_magnitudes as double)
    + cast(half_unit as double)
  );
