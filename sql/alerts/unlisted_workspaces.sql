--! about: The workspaces whose costs no listing explains, by account, dearest first.
--! grain: account, workspace
with
--! include: unlisted_workspaces
select account, workspace, cast(cast(cost as decimal(38, 12)) as varchar) as cost
from unlisted_workspaces
order by account, unlisted_workspaces.cost desc, workspace
