--! about: A batch of the events that are new in a listing, in order.
select * exclude (position)
from new_events
where position >= cast($from as bigint) and position < cast($to as bigint)
order by position;
