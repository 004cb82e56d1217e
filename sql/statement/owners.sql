--! about: What each owner is charged for the month, direct and shared, and for the month before; what the month bills it
--! about: with corrections of earlier months; of one owner with $owner, by all dimensions of its rules.
with costs as (
  select named, owner, is_month, is_shared, cost, null as correction_cost, null as invoice_difference
  from statement_costs
  union all
  select named, owner, null, null, 0, cost, null
  from statement_corrections
  union all
  -- Nobody owns what the platform's invoice bills beyond the costs.
  select null, null, null, null, 0, null, invoice_difference
  from statement_invoice_differences
)
select
  case when $owner is null then costs.named else costs.owner end as owner,
  cast(coalesce(sum(costs.cost) filter (costs.is_month and not costs.is_shared), 0) as decimal(38, 12)) as direct_cost,
  cast(coalesce(sum(costs.cost) filter (costs.is_month and costs.is_shared), 0) as decimal(38, 12)) as shared_cost,
  --! include: cost_and_month_before
  ,
  cast(coalesce(sum(costs.correction_cost), 0) as decimal(38, 12)) as correction_cost,
  cast(sum(costs.invoice_difference) as decimal(38, 12)) as invoice_difference,
  cast(
    coalesce(sum(costs.cost) filter (costs.is_month), 0) + coalesce(sum(costs.correction_cost), 0)
    + coalesce(sum(costs.invoice_difference), 0) as decimal(38, 12)
  ) as billed_cost
from costs
cross join statement_known as known
where $owner is null or costs.named = $owner
group by case when $owner is null then costs.named else costs.owner end, known.has_month_before
having known.has_month_before
  or coalesce(bool_or(costs.is_month), false)
  or count(costs.correction_cost) + count(costs.invoice_difference) > 0
order by cost desc, billed_cost desc, owner nulls last;
