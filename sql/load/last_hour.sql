--! about: The last hour of the window with any cost or usage; null if there is none.
select max(bucket) as last_bucket from incoming where cost <> 0 or usage <> 0;
