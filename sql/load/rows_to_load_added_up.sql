--! about: The rows of the window to store, if several rows of one series and hour may need to be added up, or if rows
--! about: were replaced by others.
create or replace temp table loaded_rows as
select
  series_id,
  bucket,
  cast(sum(cost) as decimal(18, 12)) as cost,
  cast(sum(usage) as decimal(18, 6)) as usage
from incoming
group by series_id, bucket
having sum(cost) <> 0 or sum(usage) <> 0
order by series_id, bucket;

create or replace temp view loaded as
select series_id, bucket, cost, usage
from loaded_rows;
