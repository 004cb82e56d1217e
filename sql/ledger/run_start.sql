--! about: When a run started, in milliseconds since 1970.
select epoch_ms(started_at) as started_at from ledger.runs where run_number = cast($run_number as bigint)
