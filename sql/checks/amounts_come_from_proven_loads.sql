--! about: Every amount belongs to a load of its account and its hours, and everything compared for that load proved.
--! severity: fail
with written as (
  select
    account,
    load_number,
    count(*) as amounts,
    sum(cost) as cost,
    min(bucket_start) as first_hour,
    max(bucket_start) as last_hour
  from ledger.amounts
  group by account, load_number
),
proven_loads as (
  select load_number, count(*) as comparisons, count(*) filter (not proven) as unproven
  from ledger.proofs
  where load_number is not null
  group by load_number
),
judged as (
  select
    written.account,
    written.load_number,
    written.amounts,
    written.cost,
    case
      when loads.load_number is null then 'there is no such load'
      when written.first_hour < loads.window_start or written.last_hour >= loads.window_end
        then 'the load was of other hours'
      when proven_loads.comparisons is null then 'nothing was compared'
      when proven_loads.unproven > 0 then proven_loads.unproven || ' comparisons did not prove'
    end as because
  from written
  left join ledger.loads as loads
    on loads.load_number = written.load_number and loads.account = written.account
  left join proven_loads on proven_loads.load_number = written.load_number
)
select account, load_number, amounts, cost, because
from judged
where because is not null
order by account, load_number
