--! about: How many windows the runs of the journal loaded, also if their loads are lost.
select coalesce(sum(windows), 0) as windows from ledger.account_runs
