--! about: What an owner's hours cost in a month, as the platform reports them now, in USD: its own resources and its shares of what
--! about: rules split. One row: the month, the dimension and the owner's name in it.
select
  concat_ws('/', strftime(bucket_start, '%Y-%m'), dimension, owner ->> ('/' || replace(replace(dimension, '~', '~0'), '/', '~1'))) as subject,
  cast(sum(cost) as decimal(38, 12)) as value
from (select *, unnest(json_keys(owner)) as dimension from ledger.costs_by_owner where owner is not null)
group by subject;
