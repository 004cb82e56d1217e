--! about: A run is about to tell a sink a message.
insert into ledger.deliveries
values (cast($message_number as bigint), cast($run_number as bigint), cast($began_at as timestamp), null, null, null, null);
