--! about: Through when the books are complete: an example on the page of SQL.
select account, complete_through, settled_through
from accounts;
