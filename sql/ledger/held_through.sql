--! about: The end of the last hour in the books of these accounts, complete or not; null if there is none.
select epoch_ms(max(window_end)) as held_through
from coverage
where account in (select unnest(from_json($accounts, '["VARCHAR"]')));
