--! about: For each account and month ($months), a text that changes when the owners of its costs do.
with
rules as (select rule_number, split from ledger.allocation_rules),
states as (
  select
    series.account,
    owners.from_time,
    owners.to_time,
    hash(
      owners.series_id, owners.rule, owners.is_split, owners.owner, owners.team, owners.product, owners.environment,
      cast(to_json(owners.mount_split) as varchar), cast(to_json(rules.split) as varchar)
    ) as hash
  from lake_owners as owners
  join lake_series as series using (series_id)
  left join rules using (rule_number)
),
--! include: basis_of_states
