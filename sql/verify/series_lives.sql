--! about: How many series of each billing dimension may have a given first and last day: identified by UUID (question
--! about: series) or by name (question names; by workspace if $by_workspace, otherwise by type).
with
--! include: hours_of_series
of_series as materialized (
  select
    series_id,
    greatest(first_hour, cast($window_start as timestamp)) as first_hour,
    least(last_hour, cast($window_end as timestamp) - interval 1 hour) as last_hour
  from hours_of_series
  where series_id in (select series_id from ledger.series where account = $account)
    and first_hour < cast($window_end as timestamp)
    and last_hour >= cast($window_start as timestamp)
),
lives as (
  select
    questions.question,
    series.billing_dimension,
    series.resource_name,
    case when questions.question = 'series' then series.resource_uuid end as resource_uuid,
    case when questions.question = 'names' and $by_workspace then series.workspace end as workspace,
    case when questions.question = 'names' and not $by_workspace then series.resource_type end as resource_type,
    bool_or(series.resource_uuid is null) as has_rows_without_uuid,
    date_trunc('day', min(of_series.first_hour)) as first_day,
    date_trunc('day', max(of_series.last_hour)) as last_day
  from of_series
  join ledger.series as series using (series_id)
  cross join (values ('series'), ('names')) as questions(question)
  group by all
),
days as (
  select question, billing_dimension, first_day as day, 1 as began, 0 as ended from lives
  union all
  select question, billing_dimension, last_day, 0, 1 from lives
),
dimensions as (
  select billing_dimension, bool_or(has_rows_without_uuid) as has_rows_without_uuid
  from lives
  group by billing_dimension
)
select
  days.question,
  days.billing_dimension,
  epoch_ms(days.day) as day,
  sum(days.began) as began,
  sum(days.ended) as ended,
  any_value(dimensions.has_rows_without_uuid) as has_rows_without_uuid
from days
join dimensions on dimensions.billing_dimension is not distinct from days.billing_dimension
group by days.question, days.billing_dimension, days.day
order by days.question, days.billing_dimension, days.day;
