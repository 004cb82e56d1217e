--! about: What a month that is not closed bills so far, in USD: its hours as the platform reports them now; the first such month also
--! about: bills what changed in closed months since they were billed. One row: the month.
with closed as (select * from closes where is_closed),
months as (
  select date_trunc('month', bucket_start) as month, sum(cost) as cost
  from costs
  group by all
),
corrections as (
  select sum(months.cost) - (select sum(cost + correction_cost) from closed) as cost
  from months
  where month in (select billing_month from closed)
)
select
  strftime(month, '%Y-%m') as subject,
  cast(
    months.cost + case when month = min(month) over () then coalesce((select cost from corrections), 0) else 0 end
    as decimal(38, 12)
  ) as value
from months
where month not in (select billing_month from closed);
