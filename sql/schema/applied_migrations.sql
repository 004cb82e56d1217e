--! about: The migrations that this warehouse was created with.
select name, hash from ledger.applied_files where folder = 'migrations';
