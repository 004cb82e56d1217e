--! about: What resources of a workspace that no listing ever showed have cost in the last 30 complete days, in USD; of types that
--! about: were listed. One row: the workspace.
select workspace as subject, cast(sum(cost) as decimal(38, 12)) as value
from costs
join accounts using (account)
anti join ledger.resources as listed
  on listed.account = costs.account
  and listed.workspace = costs.workspace
  and listed.resource_type = costs.resource_type
  and listed.resource_name = costs.resource_name
where costs.resource_type in (select resource_type from listings where outcome = 'read')
  and costs.bucket_start >= accounts.complete_through - interval 30 days
  and costs.bucket_start < accounts.complete_through
group by subject
having sum(cost) > 0;
