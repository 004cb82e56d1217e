--! about: A run starts to send a message to a sink.
insert into ledger.deliveries
values (cast($message_number as bigint), cast($run_number as bigint), cast($began_at as timestamp), null, null, null, null);
