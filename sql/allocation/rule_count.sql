--! about: How many allocation rules the books have. The default rule counts, so books without rules of their own have one.
select count(*) as rules from ledger.allocation_rules
