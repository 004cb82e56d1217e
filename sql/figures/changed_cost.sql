--! about: By how much the platform changed costs of the past, as the books found it from an instant on, in USD: hours that are new
--! about: or gone, too. One row: the $subject, the instant.
select $subject as subject, cast(coalesce(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)), 0) as decimal(38, 12)) as value
from restatements
where seen_at >= cast($subject as timestamp);
