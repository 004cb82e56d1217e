--! about: Whether the platform's lists of an account are due: a week after they were last read. `init` and `doctor` read
--! about: them on the first day.
select coalesce(
  (select max(read_at) from ledger.platform_lists where account = $account),
  (select min(recorded_at) from ledger.accounts where account = $account)
) <= cast($now as timestamp) - interval 7 days as is_due;
