--! about: The months of each account that changed after they were loaded, and by how much.
select
  account,
  strftime(bucket_start, '%Y-%m') as month,
  sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as difference
from restatements
where seen_at >= cast($seen_from as timestamp)
group by account, month
order by account, month;
