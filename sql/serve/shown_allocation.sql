--! about: Direct and shared cost of a month by owner, as a person can query it.
select
  json_extract_string(owner, $pointer) as owner,
  sum(cost) filter (not is_shared) as direct_cost,
  sum(cost) filter (is_shared) as shared_cost
from costs_allocated
where bucket_start >= $from
  and bucket_start < $to
group by all
order by sum(cost) desc;
