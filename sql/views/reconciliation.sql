--! about: Every comparison with the platform's own totals.
--! grain: run_number, account, window_start, attempt, check_code, measure, billing_dimension
create or replace view reconciliation as
select
  run_number,
  attempt,
  load_number,
  account,
  window_start,
  window_end,
  check_code,
  measure,
  billing_dimension,
  row_count,
  ours,
  theirs,
  difference,
  tolerance,
  proven,
  proven_at
from ledger.reconciliation;
comment on view reconciliation is 'Every comparison of a window with the totals of the platform, passed or not';
comment on column reconciliation.run_number is 'Run that compared';
comment on column reconciliation.attempt is 'Which reading of the window within the run: what does not prove is read again';
comment on column reconciliation.load_number is 'Load that the proof let through; null where the window did not prove, or where the books were verified without a load';
comment on column reconciliation.account is 'Account that pays';
comment on column reconciliation.window_start is 'First hour of the window, UTC';
comment on column reconciliation.window_end is 'End of the window, UTC, exclusive';
comment on column reconciliation.check_code is 'What was compared with what';
comment on column reconciliation.measure is 'cost (USD), usage (in its unit) or groups (a count)';
comment on column reconciliation.billing_dimension is 'Dimension of the comparison; null where all are meant';
comment on column reconciliation.row_count is 'How many amounts of ours were added up';
comment on column reconciliation.ours is 'Our sum';
comment on column reconciliation.theirs is 'The total of the platform';
comment on column reconciliation.difference is 'Ours less theirs, kept also where it is within the tolerance';
comment on column reconciliation.tolerance is 'Largest difference that rounding explains';
comment on column reconciliation.proven is 'Whether the difference is within the tolerance';
comment on column reconciliation.proven_at is 'When, UTC';
