--! about: What does one business unit (an order, a user) cost by day? You supply a CSV file with the header date,value.
--! for: finance
--! grain: usage_date
--! params: metric file, month month = none, from date = none, to date = none, account text = *, workspace text = *
--! top: usage_date
with lines as (
  select
    unnest(string_split(replace(content, chr(13), ''), chr(10))) as line,
    generate_subscripts(string_split(replace(content, chr(13), ''), chr(10)), 1) as line_number
  from read_text($metric)
),
-- Spreadsheets write a byte order mark, quotes, a first line "sep=,", and commas for empty rows and columns.
plain_lines as (
  select line_number, line, trim(replace(replace(line, '"', ''), chr(65279), '')) as plain
  from lines
),
cells as (
  select
    line_number,
    line,
    string_split(plain, ',') as cell,
    len(list_filter(string_split(plain, ','), lambda text: trim(text) <> '')) as filled
  from plain_lines
  where not regexp_full_match(plain, '[ ,]*') and not (line_number = 1 and lower(plain) = 'sep=,')
),
header as (
  select min(line_number) as line_number
  from cells
),
read as (
  select
    line_number,
    line,
    len(cell) >= 2 and filled = case when trim(cell[2]) = '' then 1 else 2 end as has_two_cells,
    try_cast(trim(cell[1]) as date) as usage_date,
    regexp_full_match(trim(cell[1]), '\d{4}-\d{2}-\d{2}') as is_date_text,
    trim(cell[2]) as value_text,
    try_cast(trim(cell[2]) as decimal(38, 6)) as value,
    regexp_full_match(trim(cell[2]), '[+-]?\d{1,18}(\.\d{1,6})?') as is_value_text,
    -- Many people write 1250 as 1.250.
    regexp_full_match(trim(cell[2]), '[+-]?[1-9]\d{0,2}\.\d{3}') as is_doubtful
  from cells
  where line_number > (select line_number from header)
),
problems as (
  select line_number, 'found "' || line || '", expected the header date,value' as problem
  from (
    select
      coalesce(any_value(line_number), 1) as line_number,
      coalesce(any_value(line), '') as line,
      coalesce(any_value(cell), []) as cell
    from cells
    where line_number = (select line_number from header)
  )
  where list_transform(list_filter(cell, lambda name: trim(name) <> ''), lambda name: lower(trim(name)))
    <> ['date', 'value']
  union all
  select
    line_number,
    'found "' || line || '", expected a day and a number such as 2026-10-01,1250.5 (at most 18 digits before the point '
      || 'and 6 after it), or no number for a day without one'
  from read
  where not coalesce(
    has_two_cells and is_date_text and usage_date is not null and (value_text = '' or is_value_text), false
  )
  union all
  select
    line_number,
    'found "' || line || '", which some read as ' || replace(value_text, '.', '') || ' and some as ' || value_text
      || '; write ' || replace(value_text, '.', '') || ' or ' || value_text || '0'
  from read
  where is_doubtful
  union all
  select max(line_number), 'the day ' || usage_date || ' stands on line ' || min(line_number) || ' already'
  from read
  where usage_date is not null
  group by usage_date
  having count(*) > 1
),
first_problem as (
  select min(line_number) as line_number, arg_min(problem, line_number) as problem, count(*) as problems
  from problems
),
metric as (
  select usage_date, value
  from read
  where (
    select
      case
        when problems = 0 then true
        else error(
          $metric || ':' || line_number || ': ' || problem
            || case when problems > 1 then '; ' || (problems - 1) || ' more lines are wrong' else '' end
        )
      end
    from first_problem
  )
),
days as (
  select cast(unnest(generate_series(first_day, last_day, interval 1 day)) as date) as usage_date
  from (
    select
      greatest(coalesce(cast($from as date), cast($month as date), min(usage_date)), cast($month as date)) as first_day,
      least(
        coalesce(
          cast($to as date) - 1, cast(cast($month as date) + interval 1 month as date) - 1, max(usage_date)
        ),
        cast(cast($month as date) + interval 1 month as date) - 1
      ) as last_day
    from metric
  )
),
-- A day is complete if it is complete in every selected account.
complete as (
  select
    --! include: state_of_accounts
  from accounts
  where $account is null or account = $account
),
spent as (
  select usage_date, sum(cost) as cost
  from costs_daily
  where ($account is null or account = $account)
    and ($workspace is null or workspace = $workspace)
    and usage_date >= (select min(usage_date) from days)
    and usage_date <= (select max(usage_date) from days)
  group by usage_date
),
by_day as (
  select
    days.usage_date,
    metric.value,
    coalesce(
      days.usage_date >= complete.complete_from and days.usage_date + interval 1 day <= complete.complete_through, false
    ) as is_complete,
    case when is_complete then coalesce(spent.cost, 0) end as cost
  from days
  cross join complete
  left join metric using (usage_date)
  left join spent using (usage_date)
),
-- As in invoice_lines: exact to 18 decimals.
whole_numbers as (
  select
    *,
    cast(cast(cost as decimal(38, 12)) * 1000000000000 as hugeint) * 1000000000000 * sign(value) as cost_number,
    cast(abs(cast(value as decimal(38, 6))) * 1000000 as hugeint) as value_number
  from by_day
)
select
  usage_date,
  cast(cost as decimal(38, 12)) as cost,
  cast(value as decimal(38, 6)) as value,
  case
    when value_number > 0 then cast(
      (cost_number + sign(cost_number) * (value_number // 2)) // value_number as decimal(38, 0)
    ) * 0.000000000000000001
  end as cost_per_unit,
  case
    when not is_complete and value is null then 'no metric, cost is not complete'
    when not is_complete then 'cost is not complete'
    when value is null then 'no metric'
    when value = 0 then 'the metric is 0'
  end as note
from whole_numbers
