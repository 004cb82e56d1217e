--! about: The result of an evaluation: anomalies that replace earlier states, and the instant through which each
--! about: account was evaluated.
update ledger.anomalies
set replaced_at = cast($at as timestamp)
where replaced_at is null and list_contains(cast(from_json($changed, '["VARCHAR"]') as varchar[]), anomaly_key);

insert into ledger.anomalies
select
  anomaly_key, account, workspace, resource_type, billing_dimension, kind, is_up, cast(first_day as date),
  cast(seen_day as date), cast(last_day as date), cast(notified_day as date), state, cast(ended_day as date),
  cast(cost as decimal(38, 12)), cast(expected as decimal(38, 12)), cast(expected_low as decimal(38, 12)),
  cast(expected_high as decimal(38, 12)), cast(impact as decimal(38, 12)), price_ratio, severity, is_notified, detail,
  cast($run_number as bigint), cast($at as timestamp), null
from rows_in(
  $anomalies,
  '[{
    "anomaly_key": "VARCHAR", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
    "billing_dimension": "VARCHAR", "kind": "VARCHAR", "is_up": "BOOLEAN", "first_day": "VARCHAR",
    "seen_day": "VARCHAR", "last_day": "VARCHAR", "notified_day": "VARCHAR", "state": "VARCHAR",
    "ended_day": "VARCHAR", "cost": "VARCHAR", "expected": "VARCHAR", "expected_low": "VARCHAR",
    "expected_high": "VARCHAR", "impact": "VARCHAR", "price_ratio": "DOUBLE", "severity": "VARCHAR",
    "is_notified": "BOOLEAN", "detail": "VARCHAR"
  }]'
);

insert into ledger.anomaly_evaluations
select
  account, cast(evaluated_through as timestamp), load_number, cast($run_number as bigint), cast($at as timestamp)
from rows_in($accounts, '[{"account": "VARCHAR", "evaluated_through": "VARCHAR", "load_number": "BIGINT"}]');
