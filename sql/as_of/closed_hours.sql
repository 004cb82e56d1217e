--! about: Books of a close: each closed month has the hours of its own close, so that months that are compared have
--! about: the numbers that were signed. Changes after a close are only in corrections. A workspace that was renamed since
--! about: has its new name, which the rules of the close mean.
create table ledger.renamed_found as select * from ledger.renamed_series;

create or replace view ledger.renamed_series as select * from ledger.renamed_found;

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
select
  coalesce(renamed.series_id, restated.series_id), restated.bucket_start, restated.old_cost, restated.old_usage,
  restated.old_load_number
from present.ledger.restatements as restated
left join closed on closed.billing_month = date_trunc('month', restated.bucket_start)
left join ledger.renamed_found as renamed
  on renamed.was_series_id = restated.series_id and renamed.usage_month = closed.billing_month
where restated.load_number > coalesce(closed.through_load, getvariable('as_of_load'))
  and restated.old_load_number <= coalesce(closed.through_load, getvariable('as_of_load'));
