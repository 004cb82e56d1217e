--! about: FOCUS names for each billing dimension: those that the platform documents, and all others in the books.
--! grain: billing_dimension
create or replace view focus_dimensions as
with listed (billing_dimension, meter, unit, service_name, service_category, service_subcategory) as (
  -- A service name has one category and subcategory in FOCUS, so storage never shares a name with what it stores.
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
  meter, --: SkuMeter: name of the dimension without its unit
  unit, --: ConsumedUnit and PricingUnit, spelt as FOCUS spells units
  service_name, --: ServiceName; Other for a dimension that the platform does not document
  service_category, --: ServiceCategory, a value that FOCUS allows; one for each service name
  service_subcategory --: ServiceSubcategory, a value that FOCUS allows; one for each service name
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
