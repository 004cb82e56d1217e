--! about: What did each workspace cost in each month? One row per month, one column per workspace, and the total.
--! for: finance
--! grain: account, month
--! params: from date = none, to date = none, account text = *
--! spread: workspace, cost, total
--! cost: total
--! top: month
-- Every month with costs, up to now. An incomplete month has its cost so far; is_complete is false. A closed month has the
-- cost of its close. What a month bills besides, corrections of earlier months and a difference to an invoice, is not here: the
-- report summary has it.
with months as (
  select
    series_id,
    billing_month as month,
    sum(cost) as cost
  from hourly_costs_billed
  where ($from is null or bucket_start >= cast($from as timestamp))
    and ($to is null or bucket_start < cast($to as timestamp))
  group by all
)
select
  series.account,
  months.month,
  coalesce(
    accounts.history_start <= months.month and accounts.complete_through >= months.month + interval 1 month,
    false
  ) as is_complete,
  series.workspace,
  cast(sum(months.cost) as decimal(38, 12)) as cost
from months
join series using (series_id)
left join accounts on accounts.account = series.account
where $account is null or series.account = $account
group by all
