--! about: What a resource cost in a month, as the platform reports it now, in USD. One row: the month, workspace, type and name.
select
  concat_ws('/', strftime(bucket_start, '%Y-%m'), workspace, resource_type, resource_name) as subject,
  cast(sum(cost) as decimal(38, 12)) as value
from costs
where resource_name is not null
group by subject;
