--! about: The SQL files that this warehouse was made with.
select folder, name, hash from ledger.applied_files;
