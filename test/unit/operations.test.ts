import { describe, expect, test } from 'vitest';
import {
  billingDimensions,
  defaultResolutions,
  groupByDimensions,
  maxWindowDays,
  metricsLimits,
  populatedBy,
  resolutions,
} from '../../src/platform/interface/limits.ts';
import { allOperations, operations } from '../../src/platform/interface/operations.ts';
import { requestPath } from '../../src/platform/interface/request.ts';
import fc from '../support/fast-check.ts';

// Written out by hand from sections 4.1 to 4.8, and from the public description.
test('every operation of the document is there, with its method, host and path', () => {
  const listed = allOperations.map(({ section, method, host, path }) => `${section} ${method} ${host} ${path}`);
  expect(listed).toEqual([
    ...['sandboxes', 'agents', 'functions', 'jobs', 'models', 'policies'].map(
      (kind) => `4.1 GET management /v0/${kind}`,
    ),
    '4.2 GET management /v0/integrations/{integrationName}',
    '4.3 POST management /v0/sandboxes/{sandboxName}/snapshots/{snapshotId}/restore',
    '4.4 GET management /v0/templates/{templateName}',
    '4.4 GET management /v0/templates/{templateName}/contents',
    '4.5 DELETE management /v0/models/{modelName}',
    '4.6 GET management /v0/accounts/{accountId}/metrics',
    '4.6 GET management /v0/accounts/{accountId}/metrics/enums/group-by',
    '4.6 GET management /v0/accounts/{accountId}/metrics/enums/resource-types',
    '4.6 GET management /v0/accounts',
    '4.7 POST inference /{workspace}/agents/{agent}',
    '4.7 POST inference /{workspace}/models/{model}',
    '4.7 POST inference /{workspace}/models/{model}/chat/completions',
    '4.7 ANY inference /{workspace}/functions/{server}/mcp',
    '4.7 POST management /{workspace}/jobs/{job}/executions',
    '4.8 ANY sandbox /mcp',
    '4.8 ANY sandbox /',
    '4.8 GET sandbox /filesystem/tree/{path}',
    '4.8 POST sandbox /upgrade',
    'public description GET management /v0/workspaces',
    'public description GET management /v0/workspaces/{workspaceName}',
    ...[
      ...['sandboxes/{sandboxName}', 'sandboxes/by-external-id/{externalId}', 'agents/{agentName}'],
      ...['functions/{functionName}', 'jobs/{jobId}', 'models/{modelName}', 'policies/{policyName}'],
      ...['volumes', 'volumes/{volumeName}', 'volumes/by-external-id/{externalId}'],
      ...['images', 'images/{resourceType}/{imageName}'],
      ...['customdomains', 'customdomains/{domainName}'],
      ...['integrations/connections', 'integrations/connections/{connectionName}'],
      ...['snapshots', 'snapshots/{snapshotName}', 'sandboxes/{sandboxName}/snapshots'],
      ...['executions', 'executions/{executionId}', 'executions/{executionId}/tasks'].map(
        (path) => `jobs/{jobId}/${path}`,
      ),
      ...['users', 'service_accounts'],
    ].map((path) => `public description GET management /v0/${path}`),
    'public description POST management /v0/jobs/{jobId}/executions',
  ]);
});

test('every operation that may change something says what it does, and is sent once', () => {
  for (const { name, method, changes, effect, isRepeatable, path, parameters } of allOperations) {
    expect(changes, name).toBe(effect !== undefined);
    expect(isRepeatable, name).toBe(method === 'GET');
    const known = parameters.map((parameter) => parameter.name);
    const named = [...`${path} ${effect ?? ''}`.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(
      named.filter((parameter) => !known.includes(parameter ?? '')),
      name,
    ).toEqual([]);
  }
});

describe('requestPath', () => {
  test('the four operations have the paths of 4.6', () => {
    expect(requestPath(operations.metrics, { accountId: 'a1' })).toBe('/v0/accounts/a1/metrics');
    expect(requestPath(operations.groupByEnum, { accountId: 'a1' })).toBe('/v0/accounts/a1/metrics/enums/group-by');
    expect(
      requestPath(operations.resourceTypesEnum, {
        accountId: 'a1',
        startTime: '2026-10-01T00:00:00Z',
        endTime: '2026-10-02T00:00:00Z',
      }),
    ).toBe('/v0/accounts/a1/metrics/enums/resource-types?startTime=2026-10-01T00:00:00Z&endTime=2026-10-02T00:00:00Z');
    expect(requestPath(operations.accounts, {})).toBe('/v0/accounts');
  });

  test('equal requests have equal paths, for values in any order', () => {
    const values = {
      cursor: 'c',
      limit: '100',
      groupBy: 'workspace,billing_dimension',
      resolution: 'hourly',
      endTime: '2026-10-08T00:00:00Z',
      startTime: '2026-10-01T00:00:00Z',
      accountId: 'a1',
    };
    const reversed = Object.fromEntries(Object.entries(values).reverse());
    const path =
      '/v0/accounts/a1/metrics?startTime=2026-10-01T00:00:00Z&endTime=2026-10-08T00:00:00Z&resolution=hourly&groupBy=workspace,billing_dimension&limit=100&cursor=c';
    expect(requestPath(operations.metrics, values)).toBe(path);
    expect(requestPath(operations.metrics, reversed)).toBe(path);
  });

  test('any value arrives unchanged', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !['.', '..'].includes(value));
    fc.assert(
      fc.property(text, text, text, (accountId, resourceType, cursor) => {
        const url = new URL(requestPath(operations.metrics, { accountId, resourceType, cursor }), 'http://localhost');
        const segments = url.pathname.split('/');
        expect(segments).toHaveLength(5);
        expect(decodeURIComponent(segments[3] ?? '')).toBe(accountId);
        expect(Object.fromEntries(url.searchParams)).toEqual({ resourceType, cursor });
        expect(url.hash).toBe('');
      }),
    );
  });

  test('a path without its account, or an unknown parameter, is a bug of the caller', () => {
    expect(() => requestPath(operations.metrics, {})).toThrow(new TypeError('metrics needs accountId'));
    expect(() => requestPath(operations.metrics, { accountId: '..' })).toThrow(
      new TypeError('metrics cannot have .. as accountId'),
    );
    expect(() => requestPath(operations.accounts, { limit: '5' })).toThrow(
      new TypeError('accounts has no parameter limit'),
    );
  });
});

describe("the interface's numbers, written out by hand from 2.15, 4.6 and 8", () => {
  test('limits', () => {
    expect(metricsLimits).toEqual({
      maxGroupByDimensions: 3,
      maxPageSize: 100,
      defaultPageSize: 100,
      maxHourlyWindowMs: 604_800_000,
      cursorLifetimeMs: 86_400_000,
    });
    expect(resolutions).toEqual(['hourly', 'daily', 'weekly', 'monthly']);
    expect(maxWindowDays).toEqual({ hourly: 7, daily: 90, weekly: 365, monthly: Number.POSITIVE_INFINITY });
    expect(defaultResolutions.map(({ underDays, resolution }) => [underDays, resolution])).toEqual([
      [7, 'hourly'],
      [90, 'daily'],
      [365, 'weekly'],
      [Number.POSITIVE_INFINITY, 'monthly'],
    ]);
  });

  test('dimensions and what each fills', () => {
    expect(groupByDimensions).toEqual([
      'workspace',
      'resource_type',
      'resource_name',
      'resource_uuid',
      'billing_dimension',
    ]);
    const fills = (dimension: (typeof groupByDimensions)[number]) =>
      Object.entries(populatedBy)
        .filter(([, by]) => by.includes(dimension))
        .map(([field]) => field);
    expect(fills('workspace')).toEqual(['workspace']);
    expect(fills('resource_type')).toEqual(['resourceType']);
    expect(fills('resource_name')).toEqual(['workspace', 'resourceType', 'resourceName']);
    expect(fills('resource_uuid')).toEqual(['workspace', 'resourceType', 'resourceName', 'resourceUuid']);
    expect(fills('billing_dimension')).toEqual(['resourceType', 'billingDimension']);
  });

  test('twelve billing dimensions, each with its unit', () => {
    expect(billingDimensions.map(({ name, resourceType, unit }) => `${name} ${resourceType} ${unit}`)).toEqual([
      'sandbox_compute_runtime_gbs sandbox GB-seconds',
      'sandbox_image_storage_gbs sandbox GB-seconds',
      'sandbox_snapshot_storage_gbs sandbox GB-seconds',
      'agent_compute_runtime_gbs agent GB-seconds',
      'agent_image_storage_gbs agent GB-seconds',
      'agent_async_requests_count agent count',
      'job_compute_runtime_gbs job GB-seconds',
      'job_image_storage_gbs job GB-seconds',
      'mcp_server_compute_runtime_gbs mcp_server GB-seconds',
      'mcp_server_image_storage_gbs mcp_server GB-seconds',
      'volume_storage_gbs volume GB-seconds',
      'custom_domain_active_time_hours custom_domain hours',
    ]);
  });

  test('the metrics operation takes the eleven query parameters, two of them required', () => {
    const query = operations.metrics.parameters.filter((parameter) => parameter.in === 'query');
    expect(query.map(({ name, required }) => (required ? `${name}!` : name))).toEqual([
      'startTime!',
      'endTime!',
      'resolution',
      'groupBy',
      'workspace',
      'resourceType',
      'resourceName',
      'resourceUuid',
      'billingDimension',
      'limit',
      'cursor',
    ]);
  });

  test('the path of every operation has exactly its path parameters', () => {
    for (const operation of Object.values(operations)) {
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(declared).toEqual(inPath);
    }
  });
});
