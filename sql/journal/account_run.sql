--! about: What a run did for one account.
insert into ledger.account_runs
select
  cast($run_number as bigint), $account, cast($exit_code as integer), $failures, cast($windows as integer),
  cast($pages as integer), cast($row_count as bigint), cast($restated as bigint), cast($requests as integer),
  cast($retries as integer);
