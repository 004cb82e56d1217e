--! about: Records that every journal event up to this number is in the books.
update ledger.journal set applied = cast($number as bigint);
