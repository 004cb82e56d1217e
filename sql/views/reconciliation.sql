--! about: Every comparison with the platform's totals.
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
comment on view reconciliation is 'Every comparison of a window with the platform''s totals, passed or failed';
comment on column reconciliation.run_number is 'Run that compared';
comment on column reconciliation.attempt is 'Attempt within the run: a window that does not match is fetched again';
comment on column reconciliation.load_number is 'Load that this comparison proved; null if the window is unproven, or if Costbook verified it without loading';
comment on column reconciliation.account is 'Billing account';
comment on column reconciliation.window_start is 'First hour of the window, UTC';
comment on column reconciliation.window_end is 'End of the window, UTC, exclusive';
comment on column reconciliation.check_code is 'Code of the sums that were compared, such as month_dimension_matches_platform';
comment on column reconciliation.measure is 'cost (USD), usage (in its unit) or groups (a count)';
comment on column reconciliation.billing_dimension is 'Billing dimension that was compared; null if the comparison covers all';
comment on column reconciliation.row_count is 'Number of our rows in the sum';
comment on column reconciliation.ours is 'Our sum';
comment on column reconciliation.theirs is 'The platform''s total';
comment on column reconciliation.difference is 'Ours minus theirs; stored even if it is within the tolerance';
comment on column reconciliation.tolerance is 'Largest difference that rounding explains';
comment on column reconciliation.proven is 'Whether the difference is within the tolerance';
comment on column reconciliation.proven_at is 'When the comparison was made, UTC';
