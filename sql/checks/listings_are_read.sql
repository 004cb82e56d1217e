--! about: The last reading of every listing was whole, or the platform does not serve it: what is older than that may be
--! about: labels that changed and resources that are gone.
--! severity: warn
select account, token_workspace, resource_type, outcome, because, read_at
from listings
where is_last and outcome in ('partial', 'shrunk', 'failed')
order by account, token_workspace nulls first, resource_type
