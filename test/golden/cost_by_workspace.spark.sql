with hourly_costs as (
  select 
    series_id,
    bucket_start,
    cost,
    usage
  from costs
),
answer as (
  with added_up as (
    select series_id, sum(cost) as cost, sum(usage) as usage
    from hourly_costs
    where bucket_start >= cast('2026-09-01' as timestamp)
      and bucket_start < cast('2026-09-01' as timestamp) + interval '1' month
    group by series_id
  )
  select 
    series.account,
    cast('2026-09-01' as date) as month,
    series.workspace,
    series.resource_type,
    series.billing_dimension,
    series.unit,
    cast(sum(added_up.usage) as decimal(38, 6)) as usage,
    cast(sum(added_up.cost) as decimal(38, 12)) as cost
  from added_up
  join series using (series_id)
  where (cast(null as string) is null or series.account = cast(null as string))
    and ('o\'hare\\' is null or series.workspace = 'o\'hare\\')
  group by series.account, series.workspace, series.resource_type, series.billing_dimension, series.unit
)
select
  account,
  month,
  workspace,
  resource_type,
  billing_dimension,
  unit,
  usage,
  cost
from answer
where assert_true(
  current_timezone() in ('UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00')
    and typeof(cast(1 as decimal(38, 12)) * cast(1 as decimal(38, 12))) = 'decimal(38,24)'
    and cast(cast(0 as decimal(38, 12)) as string) = '0.000000000000'
    and '${spark.sql.variable.substitute}' = concat(chr(36), '{spark.sql.variable.substitute}')
    and '\u0024' = chr(36),
  'set spark.sql.variable.substitute=false, spark.sql.parser.escapedStringLiterals=false, spark.sql.decimalOperations.allowPrecisionLoss=false, spark.sql.ansi.enabled=true, spark.sql.session.timeZone=UTC'
) is null
