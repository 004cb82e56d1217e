--! about: Whether a month ($month) and the month before are complete in every account, from the rows of `accounts`.
coalesce(
  bool_and(
    history_start <= cast($month as timestamp) - interval 1 month
    -- Nothing more comes of an account that has ended.
    and (ended_at is not null or complete_through >= cast($month as timestamp) + interval 1 month)
  ),
  false
) as has_month_before
