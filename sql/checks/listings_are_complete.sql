--! about: The last attempt to read every resource listing got all of it. Otherwise labels may be outdated and deleted
--! about: resources may still look alive. If a listing is refused, ask an account admin for a token that may list
--! about: resources, or set inventory: false in costbook.yaml. If it is partial or failed, the next ingest reads it
--! about: again. If more than half of it is missing (shrunk), Costbook keeps the missing resources: if they are gone,
--! about: run "costbook ingest --accept-reduced-access" once; if not, use a token that sees them. A listing that was
--! about: never served does not count, unless the platform serves none.
--! severity: warn
with
--! include: unread_listings
select account, token_workspace, resource_type, outcome, reason, read_at
from unread_listings
order by account, token_workspace nulls first, resource_type
