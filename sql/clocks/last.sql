--! about: The last clock reading of each account.
select account, ahead_seconds, epoch_ms(platform_at) as platform_at, epoch_ms(local_at) as local_at
from ledger.clocks
qualify row_number() over (partition by account order by run_number desc) = 1;
