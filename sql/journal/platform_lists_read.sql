--! about: The dimensions and resource types that the platform listed.
insert into ledger.platform_lists (account, run_number, read_at, dimensions, resource_types)
select $account, cast($run_number as bigint), cast($read_at as timestamp), $dimensions, $resource_types;
