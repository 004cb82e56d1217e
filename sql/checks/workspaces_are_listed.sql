--! about: Each workspace with costs in the last 30 days has a resource that a listing showed. Otherwise its costs
--! about: have no labels, so no owners by label: the token does not reach the workspace, or the platform lists it only by another name.
--! severity: warn
with
--! include: unlisted_workspaces
select account, workspace, cost
from unlisted_workspaces
order by cost desc, account, workspace
