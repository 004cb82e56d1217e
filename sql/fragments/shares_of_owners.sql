--! about: The end of a query: how shared cost is split over owners, as the view allocation_shares. From the CTE owners (as
--! about: the view allocation_owners), so that a query that needs both computes owners once.
counted_hours as not materialized (select series_id, bucket_start, cost, usage from ledger.hourly_costs),
--! include: shares_in_hours
