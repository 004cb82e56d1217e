--! about: The accounts that costbook.yaml no longer names: since when no run reads them, and through when their costs are known.
--! grain: account
select
  account,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  strftime(complete_through, '%Y-%m-%dT%H:%M:%SZ') as complete_through
from accounts
where ended_at is not null and complete_through is not null
order by account
