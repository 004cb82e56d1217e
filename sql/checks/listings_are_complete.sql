--! about: The last attempt to read every resource listing got all of it. Otherwise labels may be outdated and deleted
--! about: resources may still look alive; each reason says what to do. If more than half of a listing is missing
--! about: (shrunk), Costbook keeps the missing resources. A listing that was never served does not count, unless the
--! about: platform serves none.
--! severity: warn
with
--! include: unread_listings
select account, token_workspace, resource_type, outcome, reason, read_at
from unread_listings
order by account, token_workspace nulls first, resource_type
