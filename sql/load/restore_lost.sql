--! about: Rows of lost hours get the number of the lost load, as if that load had read them: neither a closed month nor
--! about: --as-of takes them for late. A row that is as before the lost load is again the row from then.
create or replace temp table restored as
select
  hourly_costs.series_id,
  hourly_costs.bucket_start,
  hourly_costs.cost,
  hourly_costs.usage,
  lost_hours.load_number,
  lost_hours.was_covered,
  restatements.old_cost,
  restatements.old_usage,
  restatements.old_load_number,
  coalesce(
    is_same_hour(restatements.old_cost, hourly_costs.cost, 1e-12)
    and is_same_hour(restatements.old_usage, hourly_costs.usage, 1e-6),
    false
  ) as is_as_before,
  restatements.series_id is not null as is_restated
from ledger.hourly_costs as hourly_costs
join lost_hours on lost_hours.bucket_start = hourly_costs.bucket_start
left join ledger.restatements as restatements
  on restatements.series_id = hourly_costs.series_id
  and restatements.bucket_start = hourly_costs.bucket_start
  and restatements.load_number = lost_hours.load_number
where hourly_costs.load_number = cast($load_number as bigint)
  and hourly_costs.bucket_start >= cast($window_start as timestamp)
  and hourly_costs.bucket_start < cast($window_end as timestamp)
  and hourly_costs.series_id in (select series_id from ledger.series where account = $account);

update ledger.hourly_costs
set
  cost = case when restored.is_as_before then restored.old_cost else restored.cost end,
  usage = case when restored.is_as_before then restored.old_usage else restored.usage end,
  load_number = case when restored.is_as_before then restored.old_load_number else restored.load_number end
from restored
where hourly_costs.series_id = restored.series_id
  and hourly_costs.bucket_start = restored.bucket_start
  and hourly_costs.load_number = cast($load_number as bigint);

delete from ledger.restatements
using restored
where restored.is_as_before
  and restatements.series_id = restored.series_id
  and restatements.bucket_start = restored.bucket_start
  and restatements.load_number = restored.load_number;

update ledger.restatements
set new_cost = restored.cost, new_usage = restored.usage
from restored
where restored.is_restated
  and not restored.is_as_before
  and restatements.series_id = restored.series_id
  and restatements.bucket_start = restored.bucket_start
  and restatements.load_number = restored.load_number;

insert into ledger.restatements
select
  $account, restored.series_id, restored.bucket_start, null, restored.cost, null, restored.usage, null,
  restored.load_number, loads.seen_at
from restored
join ledger.loads as loads on loads.load_number = restored.load_number
where restored.was_covered and not restored.is_restated;
