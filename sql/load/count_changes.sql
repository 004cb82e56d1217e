--! about: How many hours of series a load changes, and how many of these were covered before.
select count(*) as changed, count(*) filter (was_covered) as restated from changes;
