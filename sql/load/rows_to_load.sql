--! about: The window's rows as they will be stored, where the detail names each series once and nothing was added to it:
--! about: no row stands twice. They stay in the order in which they came, series by series, which is how they store best.
create or replace temp view loaded as
select series_id, bucket, cost, usage
from incoming
where cost <> 0 or usage <> 0;
