--! about: When a cost was known: when its load saw it, or for a new row from before the account's first load, $lag_hours after
--! about: its hour. Reads is_first, bucket_start, first_seen_at and seen_at.
case
  when is_first and bucket_start + interval 1 hour <= first_seen_at
    then least(seen_at, bucket_start + to_hours(cast($lag_hours as bigint) + 1))
  else seen_at
end
