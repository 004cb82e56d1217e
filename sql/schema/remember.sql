--! about: Records the text of an SQL file that this warehouse was created with; it replaces the file's earlier text.
delete from ledger.applied_files where folder = $folder and name = $name;

insert into ledger.applied_files values ($folder, $name, $hash);
