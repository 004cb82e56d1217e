--! about: What the hours of a month cost that one owner pays (direct), that rules split over owners (shared), and that nobody owns
--! about: (none), as the platform reports them now, in USD. One row: the month, the dimension and the kind of cost.
with owned as (
  select
    strftime(bucket_start, '%Y-%m') as month,
    unnest(json_keys(owner)) as dimension,
    owner ->> ('/' || replace(replace(dimension, '~', '~0'), '/', '~1')) is not null as is_owned,
    is_shared,
    cost
  from ledger.costs_by_owner
  where owner is not null
),
kinds as (
  select month, dimension, if(is_shared, 'shared', 'direct') as kind, sum(cost) as value
  from owned
  where is_owned
  group by all
),
months as (select strftime(bucket_start, '%Y-%m') as month, sum(cost) as cost from costs group by all)
select concat_ws('/', month, dimension, kind) as subject, cast(value as decimal(38, 12)) as value
from kinds
union all
select concat_ws('/', month, dimension, 'none'), cast(any_value(months.cost) - sum(kinds.value) as decimal(38, 12))
from kinds
join months using (month)
group by month, dimension;
