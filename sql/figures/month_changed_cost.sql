--! about: By how much the costs of a closed month changed since its close, in USD; a later month bills it. One row: the month.
select
  strftime(closes.billing_month, '%Y-%m') as subject,
  cast(sum(coalesce(now.cost, 0) - closes.cost) as decimal(38, 12)) as value
from closes
left join (
  select account, cast(date_trunc('month', bucket_start) as date) as billing_month, sum(cost) as cost
  from costs
  group by all
) as now using (account, billing_month)
where closes.is_closed
group by subject;
