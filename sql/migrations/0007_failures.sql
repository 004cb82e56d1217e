--! about: A failed run or step has the code of its error and its next step, and a failed listing its next step. Those of
--! about: earlier versions have neither.
alter table ledger.runs add column error_code varchar;
alter table ledger.runs add column next_step varchar;
alter table ledger.steps add column error_code varchar;
alter table ledger.steps add column next_step varchar;
alter table ledger.listings add column next_step varchar;
