--! about: The closes that a reopened month revoked.
select distinct epoch_ms(closed_at) as closed_at
from closes
where not is_closed
