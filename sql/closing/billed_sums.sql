--! about: What a month bills to each account: rows and cost of its own hours, and of corrections.
select
  account,
  count(*) filter (charge_class is null) as row_count,
  cast(coalesce(sum(cost) filter (charge_class is null), 0) as decimal(38, 12)) as cost,
  count(*) filter (charge_class is not null) as corrections,
  cast(coalesce(sum(cost) filter (charge_class is not null), 0) as decimal(38, 12)) as correction_cost
from costs_billed
where billing_month = cast($month as date)
group by account
order by account;
