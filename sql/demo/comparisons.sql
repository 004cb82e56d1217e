--! about: What the demo project compared with the platform, and the results.
select
  count(*) as comparisons,
  -- Months are compared as well; they are not windows of hours.
  count(*) filter (check_code = 'rows_match_control') as windows,
  (select sum(pages) from ledger.loads) as pages,
  (select count(*) from costs) as rows,
  sum(ours) filter (check_code = 'rows_match_control') as cost,
  sum(theirs) filter (check_code = 'rows_match_control') as platform_cost,
  sum(difference) filter (check_code = 'rows_match_control') as difference,
  bool_and(proven) as all_proven
from reconciliation;
