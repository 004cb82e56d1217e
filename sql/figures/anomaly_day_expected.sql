--! about: What was expected of an anomaly's costs on its first day, in USD. One row: the anomaly, by its key.
select anomaly_key as subject, cast(expected as decimal(38, 12)) as value
from anomalies;
