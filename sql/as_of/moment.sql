--! about: The moment that a connection asks about: the instant, and the last load that had been seen by then. They are
--! about: constants when a query is planned, so that whole row groups are passed over.
set variable as_of = cast($as_of as timestamp);

set variable as_of_load = (
  select coalesce(max(load_number), 0)
  from present.ledger.loads
  where seen_at <= cast($as_of as timestamp)
);
