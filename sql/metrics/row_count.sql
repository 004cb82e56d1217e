--! about: The number of hourly costs in the books.
--! grain: one row
select count(*) as row_count from ledger.hourly_costs
