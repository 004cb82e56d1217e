--! about: The table of the SQL files that this warehouse was created with; the very first table.
create schema if not exists ledger;
create table if not exists ledger.applied_files (
  folder varchar not null, name varchar not null, hash varchar not null
);
