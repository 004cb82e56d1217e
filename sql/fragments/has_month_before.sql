--! about: Whether a month ($month) and the month before are complete in every account, from the rows of `accounts`.
coalesce(
  bool_and(
    history_start <= cast($month as timestamp) - interval 1 month
    and complete_through >= cast($month as timestamp) + interval 1 month
  ),
  false
) as has_month_before
