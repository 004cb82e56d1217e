--! about: When alerts of budgets were evaluated for the last time, of those that were told; null before that.
--! grain: one row
select epoch_ms(greatest(
  (select max(started_at) from ledger.runs where command = 'alert' and outcome = 'done'),
  (select max(started_at) from ledger.steps where step = 'alert' and outcome = 'done')
)) as evaluated_at
