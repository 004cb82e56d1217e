--! about: CTEs mounted (as the view mounted_labels) and mounted_hours (account, month, workspace, resource_type,
--! about: resource_name, resource_uuid, labels, cost): the cost of volumes by the labels of their mounters, each with its
--! about: part. The parts add up to the cost exactly. From the CTE volume_hours (series_id, bucket_start, cost).
mounted as materialized (select * from ledger.mounted_labels),
mounted_hours as (
  select
    series.account,
    sums.month,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    sums.labels,
    cast(
      cast(
        cast(cast(sums.cost as decimal(38, 12)) * 1000000000000 as hugeint) * sums.parts_through // sums.all_parts
        - cast(cast(sums.cost as decimal(38, 12)) * 1000000000000 as hugeint) * sums.parts_before // sums.all_parts
        as decimal(38, 0)
      ) * 0.000000000001 as decimal(38, 12)
    ) as cost
  from (
    select
      volume_hours.series_id,
      cast(date_trunc('month', volume_hours.bucket_start) as date) as month,
      mounted.from_time,
      mounted.labels,
      mounted.parts_before,
      mounted.parts_through,
      mounted.all_parts,
      sum(volume_hours.cost) as cost
    from volume_hours
    join mounted
      on mounted.series_id = volume_hours.series_id
      and volume_hours.bucket_start >= mounted.from_time
      and volume_hours.bucket_start < mounted.to_time
    group by all
  ) as sums
  join ledger.series as series using (series_id)
),
