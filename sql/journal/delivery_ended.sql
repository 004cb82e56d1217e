--! about: The result of a delivery: the sink's receipt, or why there is none. is_dead means that Costbook gave the
--! about: message up.
update ledger.deliveries
set
  tries = cast($tries as integer),
  outcome = $outcome,
  reason = $reason,
  ended_at = cast($ended_at as timestamp)
where message_number = cast($message_number as bigint) and run_number = cast($run_number as bigint);

update ledger.outbox
set
  outcome = case when $outcome = 'delivered' then 'delivered' else 'dead' end,
  ended_at = cast($ended_at as timestamp)
where message_number = cast($message_number as bigint) and ($outcome = 'delivered' or cast($is_dead as boolean));
