--! about: The hours that the loads up to as_of_load left: a row is written only when its value changes. So rows of later
--! about: loads are excluded, and the values that they replaced come from the restatements, with the load that had
--! about: written them.
select series_id, bucket_start, cost, usage, load_number
from present.ledger.hourly_costs
where load_number <= getvariable('as_of_load')
union all
select series_id, bucket_start, old_cost, old_usage, old_load_number
from present.ledger.restatements
where load_number > getvariable('as_of_load') and old_load_number <= getvariable('as_of_load')
