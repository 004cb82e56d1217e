--! about: This warehouse was made with this text of an SQL file; what was stored of the file before is replaced.
delete from ledger.applied_files where folder = $folder and name = $name;

insert into ledger.applied_files values ($folder, $name, $hash);
