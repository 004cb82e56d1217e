--! about: CTEs for reports that compare two months, $account or all accounts. They need a CTE months (month_start, base_start,
--! about: month_hours, base_hours). compared: the hours of both months that are compared, by account; of_series: the same by
--! about: series; common: the hours that every account compares.
books as (
  -- The hours of each month that the books have, from their start to complete through. Nothing more comes of an account that has
  -- ended: the hours of the others are compared.
  select
    accounts.account,
    greatest(
      0,
      coalesce(date_diff('hour', months.month_start, accounts.history_start), 0),
      coalesce(date_diff('hour', months.base_start, accounts.history_start), 0)
    ) as hours_before,
    least(months.month_hours, coalesce(date_diff('hour', months.month_start, accounts.known_through), 0)) as month_hours_known,
    least(months.base_hours, coalesce(date_diff('hour', months.base_start, accounts.known_through), 0)) as base_hours_known
  from (
    select
      account,
      history_start,
      case when ended_at is null then complete_through else greatest(complete_through, read_through) end as known_through
    from accounts
    cross join (select min(complete_through) filter (where ended_at is null) as read_through from accounts) as read
  ) as accounts
  cross join months
  where $account is null or accounts.account = $account
),
compared as (
  -- Complete months are compared as a whole, whatever their length; others by the hours that both have.
  select
    books.account,
    months.month_start + to_hours(books.hours_before) as compared_start,
    months.month_start + to_hours(
      case when is_whole then months.month_hours else least(books.month_hours_known, books.base_hours_known) end
    ) as compared_end,
    months.base_start + to_hours(books.hours_before) as base_start,
    months.base_start + to_hours(
      case when is_whole then months.base_hours else least(books.month_hours_known, books.base_hours_known) end
    ) as base_end
  from (
    select
      books.account,
      books.hours_before,
      books.month_hours_known,
      books.base_hours_known,
      books.hours_before = 0
      and books.month_hours_known = months.month_hours
      and books.base_hours_known = months.base_hours as is_whole
    from books
    cross join months
  ) as books
  cross join months
  where least(books.month_hours_known, books.base_hours_known) > books.hours_before
),
of_series as (
  select series.series_id, compared.compared_start, compared.compared_end, compared.base_start, compared.base_end
  from series
  join compared using (account)
),
-- Hours that every account compares are summed without a join, because their account does not matter. Joining every hour
-- would take twice as long.
common as (
  select
    max(compared_start) as compared_start,
    min(compared_end) as compared_end,
    max(base_start) as base_start,
    min(base_end) as base_end
  from compared
),
