--! about: Cost and usage by day of an account's workspace, resource type and billing dimension, from $from to $to, as far as
--! about: the viewer sees them.
with
--! include: visible_costs
known_series as (select * from visible_series),
known_costs as (select * from visible_costs),
--! include: days_of_anomaly
