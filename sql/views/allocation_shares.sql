--! about: How the shared cost of each account, month and rule is split over owners.
--! grain: rule_number, account, usage_month, owner
-- Internal: public views build on it. Costs are split per calendar month: it is long enough for every owner to have
-- direct cost, and months are what you charge and close. All arithmetic uses whole numbers (trillionths of a dollar),
-- so that nothing is lost by rounding: each owner gets the whole part of its share, and the rest goes one unit each to
-- the largest remainders.
create or replace view ledger.allocation_shares as
with
--! include: few_owners
--! include: shares_of_owners
;
