--! about: The last reading of every listing was whole, or the platform does not serve it: what is older than that may be
--! about: labels that changed and resources that are gone. The next ingest reads it again. Where more than half of one is
--! about: missing (shrunk) what is missing is kept until "costbook ingest --accept-reduced-access" is run once to say that it is
--! about: gone; if it is not gone, see which workspaces the token may read.
--! severity: warn
select account, token_workspace, resource_type, outcome, reason, read_at
from listings
where is_last and outcome in ('partial', 'shrunk', 'failed')
order by account, token_workspace nulls first, resource_type
