--! about: Somebody knows of an alert: nothing is told of its key until then. It takes the place of an earlier one.
update ledger.acknowledgements
set ended_at = cast($acknowledged_at as timestamp)
where alert_key = $alert_key and ended_at is null;

insert into ledger.acknowledgements
values (
  $alert_key, cast($until as timestamp), cast($run_number as bigint), cast($acknowledged_at as timestamp), null
);
