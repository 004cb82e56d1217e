--! about: Closed months, one row each for all accounts together.
--! grain: billing_month
-- Internal: public views build on it.
create or replace view ledger.closed_months as
with closed as (
  select distinct billing_month, closed_at, load_number
  from ledger.closes
  where reopened_at is null
)
select
  billing_month, --: First day of the month, UTC
  closed_at,
  -- Months are closed oldest first: a change seen between two closes belongs to the later one.
  coalesce(lag(load_number) over (order by billing_month), 0) as after_load, --: This month bills the changes that later loads made to earlier closed months
  load_number as through_load --: Last load before the close: this month bills changes up to this load
from closed;
