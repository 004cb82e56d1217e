--! about: Who owns each of the resources, workspaces or accounts $asked on its day, by the current allocation rules; without a row if
--! about: nobody does, or if several do.
--! grain: place
with asked as (
  select asked.place as place, asked.account as account, asked.resource_uuid as resource_uuid,
    asked.workspace as workspace, cast(asked.day as timestamp) as day_start
  from (
    select unnest(
      from_json($asked, '[{"place": "INTEGER", "account": "VARCHAR", "resource_uuid": "VARCHAR",
        "workspace": "VARCHAR", "day": "VARCHAR"}]')
    ) as asked
  )
),
members as materialized (
  select asked.place, asked.day_start, series.series_id
  from asked
  join series on series.account = asked.account
    and (
      series.resource_uuid = asked.resource_uuid
      or series.workspace = asked.workspace
      or (asked.resource_uuid is null and asked.workspace is null)
    )
)
select members.place, cast(any_value(owners.owner) as varchar) as owner
from members
join ledger.allocation_owners as owners
  on owners.series_id = members.series_id
  and owners.from_time < members.day_start + interval 1 day and owners.to_time > members.day_start
group by members.place
having count(distinct owners.owner) = 1 and not bool_or(owners.is_split)
order by members.place
