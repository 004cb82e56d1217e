--! about: Every month of the books: its cost, what of it is in hours that are not complete yet, whether it is complete and closed, what changed since its close, and how
--! about: many comparisons with the platform's totals it rests on.
with costs_of_months as (
  select cast(date_trunc('month', bucket_start) as date) as month, sum(cost) as cost
  from visible_days
  group by all
),
bounds as (
  select
    --! include: state_of_accounts
  from accounts
),
young as (
  select cast(date_trunc('month', bucket_start) as date) as month, sum(cost) as cost
  from visible_hours
  where bucket_start >= (select complete_through from bounds)
  group by all
),
changed as (
  select
    cast(date_trunc('month', bucket_start) as date) as month,
    count(*) as hours,
    -- A row that is new or gone changes the cost of the hour, too.
    sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as cost
  from restatements
  group by all
),
moved as (
  select cast(usage_month as date) as month, sum(cost) as cost from corrections group by all
),
compared as (
  select cast(date_trunc('month', window_start) as date) as month, count(*) as comparisons, bool_and(proven) as all_proven
  from reconciliation
  where load_number is not null and check_code = 'rows_match_control'
  group by all
)
select
  strftime(costs_of_months.month, '%Y-%m') as month,
  cast(costs_of_months.cost as decimal(38, 12)) as cost,
  cast(young.cost as decimal(38, 12)) as young_cost,
  cast(costs_of_months.cost - lag(costs_of_months.cost) over (order by costs_of_months.month) as decimal(38, 12)) as change,
  case
    when closed.billing_month is not null then 'closed'
    when bounds.complete_from > costs_of_months.month then 'partly before the books'
    when bounds.complete_through is null or bounds.complete_through < costs_of_months.month + interval 1 month then 'open'
    when bounds.settled_through >= costs_of_months.month + interval 1 month then 'settled'
    else 'complete'
  end as state,
  strftime(closed.closed_at, '%Y-%m-%dT%H:%M:%SZ') as closed_at,
  (
    select strftime(min(loads.seen_at), '%Y-%m-%dT%H:%M:%SZ')
    from ledger.loads as loads
    where loads.window_start < costs_of_months.month + interval 1 month and loads.window_end > costs_of_months.month
  ) as first_read_at,
  coalesce(changed.hours, 0) as restated_hours,
  cast(coalesce(changed.cost, 0) as decimal(38, 12)) as restated_cost,
  cast(moved.cost as decimal(38, 12)) as moved_cost,
  coalesce(compared.comparisons, 0) as comparisons,
  coalesce(compared.all_proven, false) as all_proven
from costs_of_months
cross join bounds
left join ledger.closed_months as closed on closed.billing_month = costs_of_months.month
left join young on young.month = costs_of_months.month
left join changed on changed.month = costs_of_months.month
left join moved on moved.month = costs_of_months.month
left join compared on compared.month = costs_of_months.month
order by month desc;
