--! about: The cost of a month, of the month before (null unless has_month_before of `known`), and the change, from the rows of
--! about: `costs` (is_month, cost).
cast(coalesce(sum(costs.cost) filter (costs.is_month), 0) as decimal(38, 12)) as cost,
case
  when known.has_month_before
    then cast(coalesce(sum(costs.cost) filter (not costs.is_month), 0) as decimal(38, 12))
end as cost_month_before,
case
  when known.has_month_before
    then cast(
      coalesce(sum(costs.cost) filter (costs.is_month), 0) - coalesce(sum(costs.cost) filter (not costs.is_month), 0)
      as decimal(38, 12)
    )
end as change
