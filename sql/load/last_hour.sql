--! about: The last hour of the window that has any cost or usage; null where none has.
select max(bucket) as last_bucket from incoming where cost <> 0 or usage <> 0;
