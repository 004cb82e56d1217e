--! about: No series ID belongs to two series.
--! severity: fail
select series_id, count(*) as series, min(account) as account, min(resource_name) as resource_name
from ledger.series
group by series_id
having count(*) > 1
order by series_id
