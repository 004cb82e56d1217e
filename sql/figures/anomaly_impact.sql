--! about: How much more or less than usual an anomaly has cost so far, in USD. One row: the anomaly, by its key.
select anomaly_key as subject, cast(impact as decimal(38, 12)) as value
from anomalies;
