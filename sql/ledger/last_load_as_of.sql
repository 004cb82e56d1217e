--! about: The number of the last load as of an instant, or of all loads if that is null; 0 if there is none.
select coalesce(max(load_number), 0) as number
from ledger.loads
where $as_of is null or seen_at <= cast($as_of as timestamp);
