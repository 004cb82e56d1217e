--! about: When the last load up to an instant ($until) was seen.
select epoch_ms(max(seen_at)) as seen_at
from ledger.loads
where seen_at <= cast($until as timestamp);
