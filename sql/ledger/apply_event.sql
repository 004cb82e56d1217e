--! about: The books have every event of the journal up to this number.
update ledger.journal set applied = cast($number as bigint);
