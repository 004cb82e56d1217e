--! about: Where accounts stand together, from rows of `accounts`: from when on all of them are in the books, and through when they
--! about: are complete and settled. Through when is that of the accounts that runs read, or of all if no run reads any; null if
--! about: one of them has no complete hour.
min(history_start) as history_start,
case when count(history_start) = count(*) then max(history_start) end as complete_from,
case
  when coalesce(bool_and(complete_through is not null) filter (where ended_at is null), true)
    then coalesce(min(complete_through) filter (where ended_at is null), min(complete_through))
end as complete_through,
case
  when coalesce(bool_and(settled_through is not null) filter (where ended_at is null), true)
    then coalesce(min(settled_through) filter (where ended_at is null), min(settled_through))
end as settled_through
