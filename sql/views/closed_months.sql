--! about: The closed months, and the loads whose changes to earlier months each of them bills. Internal: public
--! about: views build on it.
--! grain: billing_month
create or replace view ledger.closed_months as
with closed as (
  select distinct billing_month, closed_at, load_number
  from ledger.closes
  where reopened_at is null
)
select
  billing_month,
  closed_at,
  -- Months are closed oldest first: a change seen between two closes belongs to the later one.
  coalesce(lag(load_number) over (order by billing_month), 0) as after_load,
  load_number as through_load
from closed;
comment on view ledger.closed_months is 'Closed months, one row each for all accounts together';
comment on column ledger.closed_months.billing_month is 'First day of the month, UTC';
comment on column ledger.closed_months.closed_at is 'When the month was closed, UTC; its reports answer as of this instant';
comment on column ledger.closed_months.after_load is 'This month bills the changes that later loads made to earlier closed months';
comment on column ledger.closed_months.through_load is 'Last load before the close: this month bills changes up to this load';
