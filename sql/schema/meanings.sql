--! about: Columns of views with the meaning of their name: a name that means the same in several views has it here. A view
--! about: states only what means something else.
select
  case schema_name when 'main' then table_name else schema_name || '.' || table_name end as view,
  column_name as "column",
  meanings.meaning
from duckdb_columns() as columns
join (
  values
    ('account', 'Billing account'),
    ('billing_dimension', 'Billing dimension: what is metered and priced'),
    ('bucket_end', 'End of the hour, UTC, exclusive'),
    ('bucket_start', 'Start of the hour, UTC'),
    ('budget', 'Name of the budget; null if the forecast is for no budget'),
    ('closed_at', 'When the month was closed, UTC; its reports answer as of this instant'),
    ('cost', 'Cost in USD'),
    ('display_name', 'Display name'),
    ('environment', 'Environment of the owner; null if it has none'),
    ('external_id', 'Identifier that the resource''s owner chose'),
    ('generation', 'Runtime generation'),
    ('labels', 'Labels, a JSON object with text values; null if it has none'),
    ('made_at', 'When the forecast was made, UTC'),
    ('memory_mb', 'Memory in megabytes'),
    ('new_cost', 'Cost in USD after the change; null if the row is gone'),
    ('new_usage', 'Usage after the change'),
    ('observations', 'Number of values in the history'),
    ('old_cost', 'Cost in USD before the change; null if the series had no row'),
    ('old_usage', 'Usage before the change'),
    ('period', 'Name of the period, such as 2026-10'),
    ('period_end', 'End of the period, UTC, exclusive'),
    ('period_kind', 'daily, weekly, monthly, quarterly or yearly'),
    ('period_start', 'Start of the period, UTC'),
    ('product', 'Product of the owner; null if it has none'),
    ('resource_name', 'Resource name'),
    ('resource_type', 'Resource type, as the platform names it'),
    ('resource_uuid', 'Resource UUID or instance ID; null if the platform reports none'),
    ('scope', 'Filter that selects the budget''s costs, as JSON; null if the forecast is for no budget'),
    ('scope_kind', 'budget, or workspace: one resource type in one workspace of an account'),
    ('series_id', 'Number of the series; view series has its names'),
    ('team', 'Team of the owner; null if it has none'),
    ('transform', 'Transformation of the values: none, sqrt or log1p'),
    ('unit', 'Unit of usage; null if unknown'),
    ('usage', 'Usage, in the unit of column unit'),
    ('workspace', 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces')
) as meanings(name, meaning) on meanings.name = columns.column_name
where columns.database_name = 'wh';
