--! about: The old value of a restatement is the value that the load before it stored, and the newest value is in the
--! about: books.
--! severity: fail
--! hours: by month
with steps as (
  select
    account,
    series_id,
    bucket_start,
    load_number,
    old_cost,
    old_usage,
    new_cost,
    new_usage,
    old_load_number,
    lag(load_number) over history as load_before,
    lag(new_cost) over history as cost_before,
    lag(new_usage) over history as usage_before,
    lead(load_number) over history is null as is_last
  from ledger.restatements
  window history as (partition by series_id, bucket_start order by load_number)
),
-- is_last is here and not in the join condition, where DuckDB would compare every row with every other.
last_steps as (
  select account, series_id, bucket_start, load_number, old_cost, new_cost, new_usage
  from steps
  where is_last
),
judged as (
  select
    account,
    series_id,
    bucket_start,
    load_number,
    old_cost,
    new_cost,
    case
      when load_before = load_number then 'one load restated the hour twice'
      when (old_cost is null) <> (old_load_number is null) or old_load_number >= load_number
        then 'the load of the old value is missing, or not earlier'
      when load_before is not null
        and (old_cost is distinct from cost_before or old_usage is distinct from usage_before)
        then 'load ' || load_before || ' stored another value'
      when load_before is not null and old_load_number <> load_before
        then 'the old value is from load ' || old_load_number || ', the previous restatement is from load ' || load_before
    end as reason
  from steps
  union all
  select
    last_steps.account,
    last_steps.series_id,
    last_steps.bucket_start,
    last_steps.load_number,
    last_steps.old_cost,
    last_steps.new_cost,
    case
      when last_steps.new_cost is distinct from hourly_costs.cost
        or last_steps.new_usage is distinct from hourly_costs.usage
        or hourly_costs.load_number <> last_steps.load_number
        then 'the books have another value'
    end
  from last_steps
  left join ledger.hourly_costs as hourly_costs
    on hourly_costs.series_id = last_steps.series_id
    and hourly_costs.bucket_start = last_steps.bucket_start
)
select account, series_id, bucket_start, load_number, old_cost, new_cost, reason
from judged
where reason is not null
order by account, series_id, bucket_start, load_number, reason
