--! about: Hours read as admin that a member's reading confirms keep their rows, which know the workspace.
delete from loaded
where bucket_start >= cast($piece_start as timestamp) and bucket_start < cast($piece_end as timestamp);

insert into loaded
select series_id, bucket_start, cost, usage
from ledger.amounts
where account = $account
  and bucket_start >= cast($piece_start as timestamp)
  and bucket_start < cast($piece_end as timestamp);
