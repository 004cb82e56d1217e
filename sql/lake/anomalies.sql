--! about: Unusual daily costs of a workspace, resource type and billing dimension.
--! grain: anomaly_key
--! cost: cost
--! version: 1
from anomalies
order by anomaly_key
