--! about: How each billing dimension is told in FOCUS: the platform's own list, and what its name's ending tells of others.
--! grain: billing_dimension
create or replace view focus_dimensions as
with listed (billing_dimension, meter, unit, service_name, service_category, service_subcategory) as (
  -- A service name has one category and one subcategory, so storage never goes by the name of what it stores.
  values
    ('sandbox_compute_runtime_gbs', 'Sandbox Compute Runtime', 'GB-Seconds', 'Sandboxes', 'Compute', 'Serverless Compute'),
    ('agent_compute_runtime_gbs', 'Agent Compute Runtime', 'GB-Seconds', 'Agents', 'Compute', 'Serverless Compute'),
    ('agent_async_requests_count', 'Agent Async Requests', 'Requests', 'Agents', 'Compute', 'Serverless Compute'),
    ('job_compute_runtime_gbs', 'Job Compute Runtime', 'GB-Seconds', 'Batch Jobs', 'Compute', 'Serverless Compute'),
    ('mcp_server_compute_runtime_gbs', 'MCP Server Compute Runtime', 'GB-Seconds', 'MCP Servers', 'Compute', 'Serverless Compute'),
    ('sandbox_image_storage_gbs', 'Sandbox Image Storage', 'GB-Seconds', 'Image Storage', 'Storage', 'Other (Storage)'),
    ('agent_image_storage_gbs', 'Agent Image Storage', 'GB-Seconds', 'Image Storage', 'Storage', 'Other (Storage)'),
    ('job_image_storage_gbs', 'Job Image Storage', 'GB-Seconds', 'Image Storage', 'Storage', 'Other (Storage)'),
    ('mcp_server_image_storage_gbs', 'MCP Server Image Storage', 'GB-Seconds', 'Image Storage', 'Storage', 'Other (Storage)'),
    ('sandbox_snapshot_storage_gbs', 'Sandbox Snapshot Storage', 'GB-Seconds', 'Snapshot Storage', 'Storage', 'Backup Storage'),
    ('volume_storage_gbs', 'Volume Storage', 'GB-Seconds', 'Volumes', 'Storage', 'Block Storage'),
    ('custom_domain_active_time_hours', 'Custom Domain Active Time', 'Hours', 'Custom Domains', 'Networking', 'Application Networking')
),
others as (
  select
    billing_dimension,
    string_split(regexp_replace(billing_dimension, '_(gbs|hours|count)$', ''), '_') as words,
    case
      when ends_with(billing_dimension, '_gbs') then 'GB-Seconds'
      when ends_with(billing_dimension, '_hours') then 'Hours'
      when ends_with(billing_dimension, '_count') then 'Counts'
      else 'Units'
    end as unit
  from (select distinct billing_dimension from ledger.series) as seen
  where billing_dimension not in (select billing_dimension from listed)
)
select
  billing_dimension,
  meter,
  unit,
  service_name,
  service_category,
  service_subcategory
from listed
union all
select
  billing_dimension,
  array_to_string(list_transform(words, lambda word : upper(word[1]) || word[2:]), ' '),
  unit,
  'Other',
  'Other',
  'Other (Other)'
from others;
comment on view focus_dimensions is 'How each billing dimension is told in FOCUS: those that the platform lists, and others that are in the books';
comment on column focus_dimensions.billing_dimension is 'What is billed';
comment on column focus_dimensions.meter is 'SkuMeter: the dimension in words, without its unit';
comment on column focus_dimensions.unit is 'ConsumedUnit and PricingUnit, as FOCUS writes units';
comment on column focus_dimensions.service_name is 'ServiceName; Other for a dimension that the platform does not list';
comment on column focus_dimensions.service_category is 'ServiceCategory, one of the list that FOCUS closes; one for each service name';
comment on column focus_dimensions.service_subcategory is 'ServiceSubcategory, one of the list that FOCUS closes; one for each service name';
