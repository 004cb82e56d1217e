--! about: Billing dimensions with costs that the platform does not list, by account.
--! grain: account, dimension
with unknown as (
  select series_id, account, billing_dimension
  from series
  where billing_dimension is not null
    and billing_dimension not in (select billing_dimension from ledger.billing_dimensions)
)
select
  unknown.account,
  unknown.billing_dimension as dimension,
  strftime(min(hourly_costs.bucket_start), '%Y-%m-%dT%H:%M:%SZ') as first_hour,
  cast(cast(sum(hourly_costs.cost) as decimal(38, 12)) as varchar) as cost
from hourly_costs
join unknown using (series_id)
group by unknown.account, unknown.billing_dimension
order by unknown.account, unknown.billing_dimension
