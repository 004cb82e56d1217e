--! about: A later page's total of a query, where it is not the one of the pages before.
update staged_queries
set
  lowest_total = least(lowest_total, cast($total as decimal(38, 12))),
  highest_total = greatest(highest_total, cast($total as decimal(38, 12)))
where query = $query;
