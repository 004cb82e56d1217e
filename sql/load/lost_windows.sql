--! about: The lost hours of a window as windows, each with its load.
with numbered as (
  select
    bucket_start,
    load_number,
    bucket_start - to_hours(row_number() over (partition by load_number order by bucket_start)) as island
  from lost_hours
)
select
  epoch_ms(min(bucket_start)) as window_start,
  epoch_ms(max(bucket_start) + interval 1 hour) as window_end,
  load_number
from numbered
group by load_number, island
order by window_start
