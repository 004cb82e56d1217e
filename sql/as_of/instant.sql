--! about: The moment that a connection answers for: the instant, and the last load received by then. They are constants
--! about: when a query is planned, so that DuckDB skips whole row groups.
set variable as_of = cast($as_of as timestamp);

-- A close records which loads were in the books: under a fast clock, those had instants in the future.
set variable as_of_load = (
  select greatest(
    0,
    (select max(load_number) from present.ledger.loads where seen_at <= cast($as_of as timestamp)),
    (select max(load_number) from present.ledger.closes where closed_at <= cast($as_of as timestamp))
  )
);
