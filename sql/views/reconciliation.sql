--! about: Every comparison of a window with the platform's totals, passed or failed.
--! grain: run_number, account, window_start, attempt, check_code, measure, billing_dimension
create or replace view reconciliation as
select
  run_number, --: Run that compared
  attempt, --: Attempt within the run: a window that does not match is fetched again
  load_number, --: Load that this comparison proved; null if the window is unproven, or if Costbook verified it without loading
  account,
  window_start, --: First hour of the window, UTC
  window_end, --: End of the window, UTC, exclusive
  check_code, --: Code of the sums that were compared, such as month_dimension_matches_platform
  measure, --: cost (USD), usage (in its unit) or groups (a count)
  billing_dimension, --: Billing dimension that was compared; null if the comparison covers all
  row_count, --: Number of our rows in the sum
  ours, --: Our sum
  theirs, --: The platform's total
  difference, --: Ours minus theirs; stored even if it is within the tolerance
  tolerance, --: Largest difference that rounding explains
  proven, --: Whether the difference is within the tolerance
  proven_at --: When the comparison was made, UTC
from ledger.reconciliation;
