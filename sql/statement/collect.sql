--! about: The costs of a month ($month) and of the month before by day, series and owner, for the statements of the
--! about: month; and what the month bills besides: corrections of earlier months by owner, and differences to the invoice.
--! about: `named` is the owner in the dimension that statements are about ($dimension).
create or replace temp table statement_costs as
select
  series_id,
  cast(bucket_start as date) as day,
  bucket_start >= cast($month as timestamp) as is_month,
  owner,
  json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1')) as named,
  is_shared,
  cast(sum(cost) as decimal(38, 12)) as cost,
  cast(sum(usage) as decimal(38, 6)) as usage
from costs_allocated
where bucket_start >= cast($month as timestamp) - interval 1 month
  and bucket_start < cast($month as timestamp) + interval 1 month
group by all;
create or replace temp table statement_corrections as
select
  series_id,
  usage_month,
  owner,
  json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1')) as named,
  is_shared,
  cast(sum(cost) as decimal(38, 12)) as cost,
  cast(sum(usage) as decimal(38, 6)) as usage
from corrections_allocated
where billing_month = cast($month as date)
group by all;
create or replace temp table statement_invoice_differences as
select account, invoice_difference
from closes
where is_closed and invoiced is not null and billing_month = cast($month as date);
create or replace temp table statement_known as
select
  --! include: has_month_before
from accounts;
