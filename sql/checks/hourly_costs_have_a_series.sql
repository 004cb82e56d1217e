--! about: Every hourly cost has exactly one series, which names what it is for and who pays.
--! severity: fail
--! hours: by month
with named as (
  select series_id, count(*) as series
  from ledger.series
  group by series_id
),
paying as (
  select series_id, count(*) as row_count, sum(cost) as cost
  from ledger.hourly_costs
  group by series_id
)
select paying.series_id, paying.row_count, paying.cost, coalesce(named.series, 0) as series
from paying
left join named using (series_id)
where named.series is distinct from 1
order by paying.series_id
