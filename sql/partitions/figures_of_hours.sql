--! about: Rows and cost of each account and month from $from to $to, by the books.
select
  series.account,
  months.month,
  cast(sum(months.rows) as bigint) as rows,
  cast(cast(sum(months.cost) as decimal(38, 12)) as varchar) as cost
from (
  select series_id, strftime(date_trunc('month', bucket_start), '%Y-%m') as month, count(*) as rows, sum(cost) as cost
  from ledger.hourly_costs
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  group by series_id, date_trunc('month', bucket_start)
) as months
join series using (series_id)
group by series.account, months.month
