--! about: The platform's lists of each account as they were last read.
--! grain: account
select account, dimensions, resource_types
from ledger.platform_lists
qualify row_number() over (partition by account order by read_at desc, run_number desc) = 1
order by account;
