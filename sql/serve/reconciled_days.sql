--! about: Comparisons with the platform's totals by day since $since: how many, how many failed, the largest difference.
--! about: $rows days, or all; all_rows says how many there are.
select
  strftime(proven_at, '%Y-%m-%d') as day,
  count(*) as comparisons,
  count(*) filter (not proven) as failed,
  cast(coalesce(max(abs(difference)) filter (measure = 'cost'), 0) as decimal(38, 12)) as difference,
  count(*) over () as all_rows
from reconciliation
where proven_at >= cast($since as timestamp)
group by all
order by day desc
limit cast($rows as bigint);
