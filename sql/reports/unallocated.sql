--! about: Which costs of the month have no owner, largest first, and which label would give each an owner?
--! for: teams
--! grain: rank, account, workspace, resource_type, resource_name, resource_uuid
--! params: month month = last-complete, account text = *, dimension text = *
--! top: none
--! important: resource_name, cost, workspace, resource_type, fix, suggested_value, account
-- With a dimension (team, or one of your own), lists costs without an owner in that dimension. fix names a label that a
-- rule reads, as of the end of the month: one with a value that no rule knows (suggested_value is the known value with
-- the most similar spelling), or else a missing one. Resources that no listing has have no labels; use other rules.
with added_up as (
  select series_id, sum(cost) as cost
  from ledger.hours_allocated
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
    -- In the JSON, a quote follows only dimensions that are not null.
    and case
      when $dimension is null then not contains(owner, ':"')
      else json_extract_string(owner, '/' || $dimension) is null
    end
  group by series_id
),
unowned as (
  select added_up.series_id, added_up.cost
  from added_up
  join series using (series_id)
  where ($account is null or series.account = $account)
),
states as materialized (select series_id, from_time, labels from ledger.series_states),
facts as materialized (select series_id, from_time, field, value from ledger.allocation_facts where mounter = 0),
--! include: unowned_resources
