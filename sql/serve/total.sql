--! about: What a window cost ($from to $to, half-open).
select cast(coalesce(sum(cost), 0) as decimal(38, 12)) as cost
from visible_hours
where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp);
