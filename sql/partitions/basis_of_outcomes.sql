--! about: A text that changes when a forecast's period ended, and the months of all such periods: their costs are compared
--! about: with the forecasts.
with ended as (
  select *
  from ledger.forecasts
  where forecast is not null and period_end <= (select max(complete_through) from accounts)
),
span as (
  select min(period_start) as first_hour, max(period_end) as last_hour
  from ended
)
select
  strftime(span.first_hour, '%Y-%m') as first_month,
  strftime(span.last_hour, '%Y-%m') as last_month,
  concat_ws(
    '/',
    (
      select
        sum(
          cast(
            hash(
              scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through, made_at
            ) as hugeint
          )
        )
      from ended
    ),
    -- Whether an account has all hours of the periods.
    (
      select
        string_agg(
          concat_ws(' ', account, least(complete_through, span.last_hour), case when ended_at is not null then 'ended' end),
          ' ' order by account
        )
      from accounts
    )
  ) as basis
from span
