--! about: Whether alerts were ever evaluated, alone or as a step of a job.
select exists (from ledger.runs where command = 'alert') or exists (from ledger.steps where step = 'alert') as looked;
