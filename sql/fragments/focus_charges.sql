--! about: CTEs escaped, states and charges: what a month ($grain) bills, by series, charge class, period and state of the
--! about: resource. From the CTEs hours (series_id, billing_month, charge_class, bucket_start, cost, usage) and
--! about: resource_states (as the view resources_of_series).
-- FOCUS allows only ASCII. Other characters are written as JSON escapes, above U+FFFF as a surrogate pair.
escaped as (
  select
    series_id,
    from_time,
    to_time,
    display_name,
    external_id,
    region,
    memory_mb,
    status,
    array_to_string(
      list_transform(
        list_transform(string_split(labels, ''), lambda letter : {'letter': letter, 'code': unicode(letter)}),
        lambda part : case
          when part.code < 128 then part.letter
          when part.code < 65536 then printf('\u%04x', part.code)
          else printf('\u%04x\u%04x', 55296 + (part.code - 65536) // 1024, 56320 + part.code % 1024)
        end
      ),
      ''
    ) as tags
  from resource_states
),
-- A day has one row for each set of labels, region and names that the resource had on it.
states as (
  select
    *,
    case
      when $grain = 'daily'
        then min(from_time) over (partition by series_id, display_name, external_id, region, memory_mb, tags)
      else from_time
    end as state
  from escaped
),
-- The resource as it was known in the hour. A closed month is read as of its close.
charges as (
  select
    hours.series_id,
    hours.billing_month,
    hours.charge_class,
    case when $grain = 'daily' then date_trunc('day', hours.bucket_start) else hours.bucket_start end as period_start,
    states.state,
    -- Wider than an hour's cost: days and invoice differences can exceed a million USD.
    cast(sum(hours.cost) as decimal(38, 12)) as cost,
    cast(sum(hours.usage) as decimal(18, 6)) as usage,
    arg_max(states.status, hours.bucket_start) as status
  from hours
  left join states
    on states.series_id = hours.series_id
    and states.from_time <= hours.bucket_start
    and states.to_time > hours.bucket_start
  group by all
),
