--! about: How many rows of cost are in the books.
--! grain: one row
select count(*) as amounts from ledger.amounts
