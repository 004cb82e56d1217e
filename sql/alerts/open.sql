--! about: The open alerts, most severe first, then newest first.
select alert_key, occurrence, severity, fact, strftime(open_since, '%Y-%m-%dT%H:%M:%SZ') as since
from alerts
where is_open
order by case severity when 'critical' then 0 when 'warning' then 1 else 2 end, raised_at desc, alert_key;
