--! about: Loads fetched under a fast clock, each with the hour from which on its numbers do not count as complete.
insert into ledger.claims_corrected
select
  $account, load_number, cast(claimed_end as timestamp), cast($run_number as bigint), cast($recorded_at as timestamp)
from rows_in($claims, '[{"load_number": "BIGINT", "claimed_end": "VARCHAR"}]');
