--! about: The end of a query: a number for each account and month ($months) that changes when a state in it does, from the CTE
--! about: states (account, from_time, to_time, hash). A state that lasts a whole month counts as itself, so that its start
--! about: and end in other months do not matter. Sums over boundaries: the effort does not grow with states times months.
asked as (
  select month.account as account, cast(month.month || '-01' as timestamp) as month
  from (select unnest(from_json($months, '[{"account": "VARCHAR", "month": "VARCHAR"}]')) as month)
),
span as (
  select min(month) as first_month, max(month) + interval 1 month as last_month
  from asked
),
clipped as (
  select
    states.account,
    states.hash,
    greatest(states.from_time, span.first_month) as from_time,
    least(states.to_time, span.last_month) as to_time
  from states
  cross join span
  where states.from_time < span.last_month and states.to_time > span.first_month
),
bounded as (
  select
    account,
    hash,
    from_time,
    to_time,
    date_trunc('month', from_time) as from_month,
    date_trunc('month', to_time) as to_month,
    case when date_trunc('month', from_time) = from_time then from_time else date_trunc('month', from_time) + interval 1 month end
      as whole_from
  from clipped
),
changes as (
  select account, whole_from as month, cast(hash as hugeint) as lasting, 0 as passing
  from bounded
  where whole_from < to_month
  union all
  select account, to_month, -cast(hash as hugeint), 0
  from bounded
  where whole_from < to_month
  union all
  select account, from_month, 0, cast(hash(hash, from_time, least(to_time, whole_from)) as hugeint)
  from bounded
  where from_time <> from_month
  union all
  select account, to_month, 0, cast(hash(hash, greatest(from_time, to_month), to_time) as hugeint)
  from bounded
  where to_time <> to_month and to_month >= from_time
  union all
  select account, month, 0, 0
  from asked
),
summed as (
  select account, month, sum(lasting) as lasting, sum(passing) as passing
  from changes
  group by account, month
),
running as (
  select account, month, sum(lasting) over (partition by account order by month) as lasting, passing
  from summed
)
select
  account,
  strftime(month, '%Y-%m') as month,
  cast(lasting as varchar) || '/' || cast(passing as varchar) as basis
from running
join asked using (account, month)
