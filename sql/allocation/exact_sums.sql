--! about: The exact sum of each list of amounts, in order.
select to_json(list(cast(total as varchar) order by place)) as totals
from (
  select place, (select cast(sum(cast(unnest as decimal(38, 12))) as decimal(38, 12)) from unnest(costs)) as total
  from (
    select
      unnest(from_json($costs, '[["VARCHAR"]]')) as costs,
      generate_subscripts(from_json($costs, '[["VARCHAR"]]'), 1) as place
  )
);
