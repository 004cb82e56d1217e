--! about: The part of `cost` that belongs to a row of hours_in_scopes.
case
  when parts = all_parts then cost
  else cast(cast(cost as double) * parts / all_parts as decimal(30, 12))
end
