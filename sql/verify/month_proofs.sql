--! about: What the answer to a question about months proved of one of them, for the record: every billing dimension, and all of
--! about: them together, also where nothing was billed.
create or replace temp table window_proofs as
with of_month as (
  select billing_dimension, amounts, our_cost, their_cost, cost_tolerance, our_usage, their_usage, usage_tolerance
  from compared_past
  where query = $query and bucket_start = cast($month_start as timestamp)
),
compared_all as (
  select
    'month of a billing dimension = the platform''s total' as compared, 'cost' as measure, billing_dimension, amounts,
    our_cost as ours, their_cost as theirs, cost_tolerance as tolerance
  from of_month
  union all
  select
    'month of a billing dimension = the platform''s total', 'usage', billing_dimension, amounts,
    cast(our_usage as decimal(38, 12)), cast(their_usage as decimal(38, 12)), usage_tolerance
  from of_month
  union all
  -- The total is the sum of totals, each of which the platform rounded by itself.
  select
    'month = the platform''s total', 'cost', null, coalesce(sum(amounts), 0), coalesce(sum(our_cost), 0),
    coalesce(sum(their_cost), 0), coalesce(cast($agreed as double), sum(cost_tolerance), 0)
  from of_month
)
select
  compared,
  measure,
  billing_dimension,
  cast(amounts as bigint) as amounts,
  cast(ours as decimal(38, 12)) as ours,
  cast(theirs as decimal(38, 12)) as theirs,
  cast(ours - theirs as decimal(38, 12)) as difference,
  tolerance,
  abs(cast(ours - theirs as double)) <= tolerance as proven
from compared_all;
