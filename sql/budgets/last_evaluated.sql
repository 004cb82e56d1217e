--! about: The last time that budget alerts were evaluated and sent; null before the first.
--! grain: one row
select epoch_ms(greatest(
  (select max(started_at) from ledger.runs where command = 'alert' and outcome = 'done'),
  (select max(started_at) from ledger.steps where step = 'alert' and outcome = 'done')
)) as evaluated_at
