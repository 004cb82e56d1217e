--! about: Somebody acknowledged an alert: no notification of its key until then. Replaces an earlier acknowledgement.
update ledger.acknowledgements
set ended_at = cast($acknowledged_at as timestamp)
where alert_key = $alert_key and ended_at is null;

insert into ledger.acknowledgements
values (
  $alert_key, cast($until as timestamp), cast($run_number as bigint), cast($acknowledged_at as timestamp), null
);
