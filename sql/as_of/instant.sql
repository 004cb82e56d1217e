--! about: The moment that a connection asks about: the instant, and the last load that had been seen by then. They are
--! about: constants when a query is planned, so that whole row groups are passed over.
set variable as_of = cast($as_of as timestamp);

-- A close says which loads were in the books: under a fast clock those were seen at instants that had not come.
set variable as_of_load = (
  select greatest(
    0,
    (select max(load_number) from present.ledger.loads where seen_at <= cast($as_of as timestamp)),
    (select max(load_number) from present.ledger.closes where closed_at <= cast($as_of as timestamp))
  )
);
