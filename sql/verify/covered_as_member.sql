--! about: The windows of an account that were fetched with a member's token.
select epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end
from ledger.covered
where account = $account and role = 'member' and replaced_by is null
order by window_start;
