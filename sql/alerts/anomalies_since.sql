--! about: Count and total difference of anomalies worth a notification: open ones, and those that ended or became usual
--! about: since a day. is_looked says whether anomalies were ever evaluated.
--! grain: one row
select
  count(*) filter (state = 'open') as open,
  cast(cast(coalesce(sum(impact) filter (state = 'open'), 0) as decimal(38, 12)) as varchar) as open_impact,
  count(*) filter (state <> 'open') as over,
  cast(cast(coalesce(sum(impact) filter (state <> 'open'), 0) as decimal(38, 12)) as varchar) as over_impact,
  exists (from ledger.anomaly_evaluations) as is_looked
from anomalies
where is_notified
  and (state = 'open' or (state in ('over', 'usual') and ended_day >= cast($since as date)))
