--! about: Books of a close: the hours as loaded until then, which the views over changes after a close read.
create or replace view ledger.hourly_costs_loaded as
--! include: hours_as_of
;
