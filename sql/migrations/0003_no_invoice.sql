--! about: A close says whether its user expects no invoice (--invoice none), and a run has the words that started it.
-- Null in closes of earlier versions, which did not store it.
alter table ledger.closes add column has_no_invoice boolean;

-- As typed after costbook; null for jobs, and in runs of earlier versions.
alter table ledger.runs add column command_line varchar;
