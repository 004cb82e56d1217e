--! about: The owner dimensions of the active allocation rules, as a JSON list; null if there are none.
select to_json(any_value(dimensions)) as names from ledger.allocation_rules
