--! about: The workspaces that the costs of an account name, or that have listed resources.
select distinct workspace
from ledger.series
where account = $account and workspace is not null
union
select distinct workspace
from ledger.resources
where account = $account and valid_to is null
order by workspace
