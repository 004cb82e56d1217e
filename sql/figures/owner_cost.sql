--! about: What an owner's hours cost in a month, in USD: its own resources and its shares of what rules split. One row: the month
--! about: and the owner, as JSON with the dimensions of the rules.
select
  concat_ws('/', strftime(bucket_start, '%Y-%m'), owner) as subject,
  cast(sum(cost) as decimal(38, 12)) as value
from ledger.costs_by_owner
where owner is not null
group by subject;
