--! about: Accounts that costbook.yaml no longer names end: no run reads them.
-- Null in rows from before this was known.
alter table ledger.accounts add column has_ended boolean;
