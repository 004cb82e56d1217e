--! about: The rows of the window to store, if the detail lists each series once and nothing was added to it. They stay
--! about: in the order in which they arrived, series by series, which compresses best.
create or replace temp view loaded as
select series_id, bucket, cost, usage
from incoming
where cost <> 0 or usage <> 0;
