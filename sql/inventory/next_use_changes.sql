--! about: A batch of the changed newest values of a listing, in order.
select * exclude (position)
from use_changes
where position >= cast($from as bigint) and position < cast($to as bigint)
order by position;
