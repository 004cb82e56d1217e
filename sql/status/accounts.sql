--! about: Each account: the instants through which it is complete and settled, its cost without a workspace, and its
--! about: last run.
with unknown_workspace as (
  select series.account, sum(hourly_costs.cost) as cost
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  join ledger.covered as covered
    on covered.account = series.account
    and hourly_costs.bucket_start >= covered.window_start
    and hourly_costs.bucket_start < covered.window_end
  where covered.role = 'member' and covered.replaced_by is null and series.workspace is null
  group by series.account
),
last_runs as (
  select account, max_by(struct_pack(run_number, exit_code, failures), run_number) as last_run
  from ledger.account_runs
  group by account
)
select
  accounts.account, accounts.name, accounts.role,
  epoch_ms(accounts.first_covered) as first_covered,
  epoch_ms(accounts.complete_through) as complete_through,
  epoch_ms(accounts.settled_through) as settled_through,
  ledger_accounts.cost_decimals, ledger_accounts.usage_decimals,
  cast(coalesce(unknown_workspace.cost, 0) as varchar) as unknown_workspace_cost,
  last_runs.last_run.run_number as run_number,
  last_runs.last_run.exit_code as exit_code,
  last_runs.last_run.failures as failures
from accounts
join ledger.accounts as ledger_accounts
  on ledger_accounts.account = accounts.account and ledger_accounts.replaced_at is null
left join unknown_workspace on unknown_workspace.account = accounts.account
left join last_runs on last_runs.account = accounts.account
order by accounts.account;
