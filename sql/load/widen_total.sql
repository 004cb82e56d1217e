--! about: The total from a later page of a query, if it differs from the pages before.
update staged_queries
set
  lowest_total = least(lowest_total, cast($total as decimal(38, 12))),
  highest_total = greatest(highest_total, cast($total as decimal(38, 12)))
where query = $query;
