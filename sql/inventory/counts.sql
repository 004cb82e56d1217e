--! about: How many resources a listing tells of, and how many were known in the workspaces that occur in it.
select
  (select count(*) from listed) as listed,
  (select count(*) from known) as known;
