--! about: The listings of an account that the platform has served to the account's own token at least once.
select distinct resource_type
from listings
where account = $account and token_workspace is null and outcome <> 'refused'
order by resource_type;
