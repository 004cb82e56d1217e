--! about: A batch of the changes that a listing causes, in order.
select * exclude (position)
from state_changes
where position >= cast($from as bigint) and position < cast($to as bigint)
order by position;
