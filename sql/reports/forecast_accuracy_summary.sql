--! about: How often was the actual cost within the forecast interval, and how large were the errors, by lead time and model?
--! for: checking
--! grain: scope_kind, period_kind, lead_days_from, model
--! params: from date = none, to date = none, account text = *, budget text = *, workspace text = *
--! evaluated: outcomes
--! important: scope_kind, period_kind, lead_days_from, lead_days_to, forecasts,
--! important: median_error_percent, within_interval_percent, expected_percent
-- The lead time is the number of forecast days of the period, in groups of 1, 2 to 3, 4 to 7, 8 to 14, 15 to 31 and more.
-- Percent errors leave out outcomes of 0.
with outcomes as (
  select
    *,
    case
      when lead_days <= 1 then 1
      when lead_days <= 3 then 2
      when lead_days <= 7 then 4
      when lead_days <= 14 then 8
      when lead_days <= 31 then 15
      else 32
    end as lead_days_from
  from forecast_outcomes
  where ($from is null or period_start >= cast($from as timestamp))
    and ($to is null or period_start < cast($to as timestamp))
    and ($account is null or account = $account)
    and ($budget is null or budget = $budget)
    and ($workspace is null or workspace = $workspace)
)
select
  scope_kind,
  period_kind,
  lead_days_from,
  max(lead_days) as lead_days_to,
  model,
  count(*) as forecasts,
  count(*) filter (is_within_interval) as within_interval,
  cast(round(count(*) filter (is_within_interval) * 100.0 / count(*), 1) as decimal(18, 1)) as within_interval_percent,
  cast(round(avg(level), 1) as decimal(18, 1)) as expected_percent,
  cast(round(median(abs(cast(error_percent as double))), 2) as decimal(18, 2)) as median_error_percent,
  cast(sum(forecast) as decimal(38, 12)) as forecast,
  cast(sum(actual) as decimal(38, 12)) as actual,
  cast(sum(error) as decimal(38, 12)) as error
from outcomes
group by scope_kind, period_kind, lead_days_from, model
