--! about: How many hourly costs a load changes, and how many of them were in covered hours.
select count(*) as changed, count(*) filter (was_covered) as restated from changes;
