--! about: What the demo project compared with the platform, and what that came to.
select
  count(*) as comparisons,
  -- Months are compared as well, and are no windows of hours.
  count(*) filter (compared = 'rows = the control''s total') as windows,
  (select sum(pages) from ledger.loads) as pages,
  (select count(*) from costs) as rows,
  sum(ours) filter (compared = 'rows = the control''s total') as cost,
  sum(theirs) filter (compared = 'rows = the control''s total') as platform_cost,
  sum(difference) filter (compared = 'rows = the control''s total') as difference,
  bool_and(proven) as all_proven
from proofs;
