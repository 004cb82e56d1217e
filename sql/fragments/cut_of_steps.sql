--! about: CTE cut (align, step_hours, first_hours): how hours are cut into the steps of a history.
cut as (
  select
    cast($align as bigint) as align,
    cast($step_hours as bigint) as step_hours,
    cast($first_hours as bigint) as first_hours
),
