--! about: The corrections that a month bills, and those of its own hours that later months bill, by resource.
select
  strftime(billing_month, '%Y-%m') as billing_month,
  strftime(usage_month, '%Y-%m') as usage_month,
  workspace,
  resource_type,
  resource_name,
  count(distinct bucket_start) as hours,
  cast(sum(cost) as decimal(38, 12)) as cost
from corrections
where billing_month = cast($month as date) or usage_month = cast($month as date)
group by billing_month, usage_month, workspace, resource_type, resource_name
order by abs(sum(cost)) desc, billing_month, usage_month, workspace, resource_type, resource_name;
