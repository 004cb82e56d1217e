--! about: A batch of the runtimes that are new in a listing, in order.
select * exclude (position)
from new_runtimes
where position >= cast($from as bigint) and position < cast($to as bigint)
order by position;
