--! about: How many anomalies are open, how many of them are excluded from alerts, and by how much those that are up cost more so far.
select
  count(*) as open,
  count(excluded_reason) as excluded,
  cast(coalesce(sum(impact) filter (is_up), 0) as decimal(38, 12)) as more
from anomalies
where is_notified and state = 'open';
