--! about: Landing folders of loads that are some days older than the newest load, and than now. A clock that is wrong, while no platform answers that could correct it, makes nothing old.
select landing
from ledger.loads
where landing is not null
  and seen_at < least(cast($now as timestamp), (select max(seen_at) from ledger.loads)) - to_days(cast($days as integer));
