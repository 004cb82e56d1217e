--! about: The SQL files that this warehouse was created with.
select folder, name, hash from ledger.applied_files;
