--! about: When alerts of budgets were evaluated for the last time, of those that were told; null before that.
--! grain: one row
select epoch_ms(max(started_at)) as evaluated_at
from ledger.runs
where command = 'alert' and outcome = 'done'
