--! about: Books of a close: each closed month has the hours of its own close, so that months that are compared have the
--! about: numbers that were signed. Changes after a close are only in corrections.
create or replace view ledger.hourly_costs_loaded as
--! include: hours_as_of
;

create or replace view ledger.hourly_costs as
with closed as (
  select billing_month, max(load_number) as through_load
  from ledger.closes
  where reopened_at is null
  group by billing_month
)
select hours.series_id, hours.bucket_start, hours.cost, hours.usage, hours.load_number
from present.ledger.hourly_costs as hours
left join closed on closed.billing_month = date_trunc('month', hours.bucket_start)
where hours.load_number <= getvariable('as_of_load')
  and hours.load_number <= coalesce(closed.through_load, getvariable('as_of_load'))
union all
select restated.series_id, restated.bucket_start, restated.old_cost, restated.old_usage, restated.old_load_number
from present.ledger.restatements as restated
left join closed on closed.billing_month = date_trunc('month', restated.bucket_start)
where restated.load_number > coalesce(closed.through_load, getvariable('as_of_load'))
  and restated.old_load_number <= coalesce(closed.through_load, getvariable('as_of_load'));
