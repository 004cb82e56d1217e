--! about: What each owner is charged for the month, direct and shared, and for the month before; of one owner with $owner,
--! about: by all dimensions of its rules.
select
  case when $owner is null then costs.named else costs.owner end as owner,
  cast(coalesce(sum(costs.cost) filter (costs.is_month and not costs.is_shared), 0) as decimal(38, 12)) as direct_cost,
  cast(coalesce(sum(costs.cost) filter (costs.is_month and costs.is_shared), 0) as decimal(38, 12)) as shared_cost,
  --! include: cost_and_month_before
from statement_costs as costs
cross join statement_known as known
where $owner is null or costs.named = $owner
group by case when $owner is null then costs.named else costs.owner end, known.has_month_before
having known.has_month_before or coalesce(bool_or(costs.is_month), false)
order by cost desc, owner nulls last;
