--! about: The rows of few_owners, from the view.
select unnest(list(found)) as owner_row from ledger.allocation_owners as found
