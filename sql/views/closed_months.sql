--! about: The months that are closed, and the loads whose changes of earlier months are delivered in them; of the ledger,
--! about: for the views that the public ones are made of.
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
  -- Months are closed oldest first: what is seen between two closes belongs to the later one.
  coalesce(lag(load_number) over (order by billing_month), 0) as after_load,
  load_number as through_load
from closed;
comment on view ledger.closed_months is 'Months that are closed: a row each, all accounts together';
comment on column ledger.closed_months.billing_month is 'First day of the month, UTC';
comment on column ledger.closed_months.closed_at is 'When it was closed, UTC: its reports answer as of this instant';
comment on column ledger.closed_months.after_load is 'Changes by loads after this one, of months closed before, are delivered in this month';
comment on column ledger.closed_months.through_load is 'Changes by loads up to this one: the last load before the close';
