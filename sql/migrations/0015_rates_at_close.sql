--! about: A close has the rate of its month in the second currency, so that a closed month keeps it. Null if it was closed
--! about: without one, as by earlier versions.
alter table ledger.closes add column currency varchar;
-- How much of the currency one USD is.
alter table ledger.closes add column rate decimal(18, 8);
-- The day that the rate is of, and who published it.
alter table ledger.closes add column rate_date date;
alter table ledger.closes add column rate_source varchar;
