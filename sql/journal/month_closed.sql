--! about: A month is closed: what it billed to each account, the hours in the books, and the
--! about: known units. Costs are decimal text.
insert into ledger.closes
select
  cast($billing_month as date), account, cast($run_number as bigint), cast($load_number as bigint),
  cast($closed_at as timestamp), row_count, cast(cost as decimal(38, 12)), corrections,
  cast(correction_cost as decimal(38, 12)), sha256, cast(invoiced as decimal(38, 12)), null, null,
  covered, currency, cast(rate as decimal(18, 8)), cast(rate_date as date), rate_source, has_no_invoice
from rows_in(
  $accounts,
  '[{
    "account": "VARCHAR", "row_count": "BIGINT", "cost": "VARCHAR", "corrections": "BIGINT",
    "correction_cost": "VARCHAR", "sha256": "VARCHAR", "invoiced": "VARCHAR", "covered": "VARCHAR",
    "currency": "VARCHAR", "rate": "VARCHAR", "rate_date": "VARCHAR", "rate_source": "VARCHAR",
    "has_no_invoice": "BOOLEAN"
  }]'
);

insert into ledger.closed_units
select cast($closed_at as timestamp), billing_dimension, unit
from rows_in($units, '[{"billing_dimension": "VARCHAR", "unit": "VARCHAR"}]');
