--! about: The days that resource_use reads by hour: the last one before $since that a resource was used, the first one with
--! about: storage, and the hours since 24 before the last complete day's end.
with own as (
  select series.series_id, series.account, contains(series.billing_dimension, 'storage') as is_storage, accounts.complete_through
  from visible_series as series
  join accounts using (account)
  where coalesce(series.resource_type, '') = $type
    and coalesce(series.workspace, '') = $workspace
    and coalesce(series.resource_name, '') = $name
    and accounts.complete_through is not null
)
select
  strftime(
    max(days.bucket_start) filter (
      not own.is_storage and days.usage > 0 and days.bucket_start < date_trunc('day', own.complete_through) - interval 24 hour
    ),
    '%Y-%m-%dT%H:%M:%SZ'
  ) as used_day,
  strftime(min(days.bucket_start) filter (own.is_storage), '%Y-%m-%dT%H:%M:%SZ') as storage_day,
  strftime(date_trunc('day', min(own.complete_through)) - interval 24 hour, '%Y-%m-%dT%H:%M:%SZ') as since
from visible_days as days
join own using (series_id);
