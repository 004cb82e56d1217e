--! about: The first end of a day, or $now, at which a cost with known_at was known, inclusive.
least(
  case when date_trunc('day', known_at) = known_at then known_at else date_trunc('day', known_at) + interval 1 day end,
  cast($now as timestamp)
)
