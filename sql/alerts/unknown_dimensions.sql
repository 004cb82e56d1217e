--! about: Billing dimensions with costs that the platform does not list, by account: through the instant to which the account is
--! about: complete, as that is the date of the amount.
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
  cast(
    coalesce(
      sum(hourly_costs.cost) filter (
        accounts.complete_through is null or hourly_costs.bucket_start < accounts.complete_through
      ),
      0
    ) as decimal(38, 12)
  )::varchar as cost
from hourly_costs
join unknown using (series_id)
join accounts using (account)
group by unknown.account, unknown.billing_dimension
order by unknown.account, unknown.billing_dimension
