--! about: The last attempt to read every resource listing got all of it, or the platform does not serve the listing.
--! about: Otherwise labels may be outdated and deleted resources may still look alive. The next ingest reads the
--! about: listing again. If more than half of a listing is missing (shrunk), Costbook keeps the missing resources: if
--! about: they are gone, run "costbook ingest --accept-reduced-access" once; if not, check which workspaces the token
--! about: may read.
--! severity: warn
select account, token_workspace, resource_type, outcome, reason, read_at
from listings
where is_last and outcome in ('partial', 'shrunk', 'failed')
order by account, token_workspace nulls first, resource_type
