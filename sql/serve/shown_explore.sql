--! about: The question of explore, as a person can run it: $group_by, $source and each condition are written into it.
select date_trunc($step, bucket_start) as bucket, $group_by, sum(cost) as cost, sum(usage) as usage
from $source
where bucket_start >= $from
  and bucket_start < $to
  and $conditions
group by all
order by bucket, cost desc;
