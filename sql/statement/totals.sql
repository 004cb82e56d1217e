--! about: What the month cost in all, and the month before; of one owner with $owner.
select
  cast(coalesce(sum(costs.cost) filter (costs.is_month), 0) as decimal(38, 12)) as cost,
  case
    when known.has_month_before
      then cast(coalesce(sum(costs.cost) filter (not costs.is_month), 0) as decimal(38, 12))
  end as cost_month_before
from statement_known as known
left join statement_costs as costs on $owner is null or costs.named = $owner
group by known.has_month_before;
