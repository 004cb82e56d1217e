--! about: A text that changes when anything changes that a cached answer may depend on: the rows of the small tables, the number of
--! about: hourly costs and restatements, which only loads write, the views, and the version of DuckDB. Nothing that an evaluation
--! about: of alerts writes is part of it. Each table of the ledger is here or in none of the queries with cached answers; a test
--! about: shows it.
with parts as (
  select 'account_runs' as part, count(*) as row_count, sum(hash(account_runs)) as hash from ledger.account_runs
  union all select 'accounts' as part, count(*) as row_count, sum(hash(accounts)) as hash from ledger.accounts
  union all select 'allocations' as part, count(*) as row_count, sum(hash(allocations)) as hash from ledger.allocations
  union all select 'billing_dimensions' as part, count(*) as row_count, sum(hash(billing_dimensions)) as hash from ledger.billing_dimensions
  union all select 'claims_corrected' as part, count(*) as row_count, sum(hash(claims_corrected)) as hash from ledger.claims_corrected
  union all select 'closes' as part, count(*) as row_count, sum(hash(closes)) as hash from ledger.closes
  union all select 'covered' as part, count(*) as row_count, sum(hash(covered)) as hash from ledger.covered
  union all select 'listings' as part, count(*) as row_count, sum(hash(listings)) as hash from ledger.listings
  -- With the number of the last load, later ones are known.
  union all select 'loads' as part, coalesce(max(load_number), 0) as row_count, sum(hash(loads)) as hash from ledger.loads
  union all select 'reconciliation' as part, count(*) as row_count, sum(hash(reconciliation)) as hash from ledger.reconciliation
  union all select 'resources' as part, count(*) as row_count, sum(hash(resources)) as hash from ledger.resources
  union all select 'series' as part, count(*) as row_count, sum(hash(series)) as hash from ledger.series
  union all select 'unit_suffixes' as part, count(*) as row_count, sum(hash(unit_suffixes)) as hash from ledger.unit_suffixes
  union all select 'unproven' as part, count(*) as row_count, sum(hash(unproven)) as hash from ledger.unproven
  union all select 'hourly_costs', count(*), null from ledger.hourly_costs
  union all select 'restatements', count(*), null from ledger.restatements
  union all
  select 'applied_files', count(*), sum(hash(applied_files))
  from ledger.applied_files as applied_files
  where folder in ('migrations', 'views')
)
select concat_ws(' ', version(), string_agg(concat_ws('/', part, row_count, hash), ' ' order by part)) as state
from parts
