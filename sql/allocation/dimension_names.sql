--! about: The dimensions of owners that the allocation rules of the books have, as a JSON list; null where there are none.
select to_json(any_value(dimensions)) as names from ledger.allocation_rules
