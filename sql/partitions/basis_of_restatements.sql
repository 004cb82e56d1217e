--! about: Each account and month with restated hours, and a text that changes with them.
select
  account,
  strftime(bucket_start, '%Y-%m') as month,
  count(*) || '/' || max(load_number) as basis
from ledger.restatements
group by account, month
