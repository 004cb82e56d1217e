--! about: How many rows of cost are in the books.
--! grain: one row
select count(*) as row_count from ledger.hourly_costs
