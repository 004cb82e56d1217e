import { expect, test } from 'vitest';
import { decoderOf } from '../../src/fetch/resource.ts';
import { listings, type RawResource } from '../../src/platform/index.ts';

function decodeResource(item: RawResource, type: string) {
  const listing = listings.find(({ kind, resourceType }) => kind === type || resourceType === type);
  if (listing === undefined) throw new Error(type);
  return decoderOf(['*auto-generated'])(item, listing);
}

const whole = {
  metadata: {
    name: 'box',
    workspace: 'north',
    displayName: '箱 =1+1\nof many',
    externalId: 'ext-1',
    labels: { team: 'core', env: 'dev', cost: '', 'acme-auto-generated': 'true' },
    createdAt: '2026-09-01T10:00:00.123456Z',
    updatedAt: '2026-09-02T12:00:00+02:00',
    createdBy: 'ada@example.com',
    updatedBy: 'bob@example.com',
    plan: 'pro',
    url: 'https://secret.example',
  },
  spec: {
    enabled: true,
    region: 'eu-1',
    integrationConnections: ['github', 'aws', 'github'],
    volumes: [
      { name: 'models', mountPath: '/m', type: 'persistent' },
      { name: 'data', mountPath: '/d' },
      { name: 'data', mountPath: '/e', type: 'persistent' },
      { name: 'scratch', mountPath: '/s', type: 'ephemeral' },
    ],
    lifecycle: { expirationPolicies: [{ action: 'delete', type: 'ttl-idle', value: '72h', note: 'S3CRET' }] },
    runtime: {
      type: 'S3CRET',
      minScale: 2,
      ttl: '48h',
      expires: '2026-09-10T00:00:00Z',
      generation: 'mk3',
      image: 'private/registry:1',
      memory: 4096,
      envs: [{ name: 'KEY', value: 'S3CRET', secret: true }],
    },
    network: { proxy: { routing: [{ secrets: { key: 'S3CRET' } }] } },
    triggers: [{ configuration: { callbackSecret: 'S3CRET' } }],
  },
  status: 'DEPLOYED',
  state: 'RUNNING',
  lastUsedAt: '2026-09-03T00:00:00Z',
  expiresIn: 12,
};

test('a resource has only the stored fields, in a fixed order', () => {
  expect(decodeResource(whole, 'sandbox')).toEqual({
    state: {
      name: 'box',
      workspace: 'north',
      uuid: undefined,
      createdAt: '2026-09-01T10:00:00.123Z',
      updatedAt: '2026-09-02T10:00:00Z',
      displayName: '箱 =1+1\nof many',
      externalId: 'ext-1',
      labels: '{"cost":"","env":"dev","team":"core"}',
      region: 'eu-1',
      memoryMb: 4096,
      generation: 'mk3',
      status: 'DEPLOYED',
      isEnabled: true,
      plan: 'pro',
      createdBy: 'ada@example.com',
      integrationConnections: '["aws","github"]',
      volumes: '["data","models"]',
      provider: undefined,
      sizeBytes: undefined,
      attachedTo: undefined,
    },
    use: {
      runtimeState: 'RUNNING',
      lastUsedAt: '2026-09-03T00:00:00Z',
      expiresAt: '2026-09-10T00:00:00Z',
      timeToLive: '48h',
      expirationPolicies: '[{"action":"delete","type":"ttl-idle","value":"72h"}]',
      minScale: 2,
    },
    strange: [],
  });
});

test('a type that mounts volumes has an empty list without any, and only a model has a provider', () => {
  const volumes = (item: Record<string, unknown>, type: string) =>
    decodeResource({ metadata: { name: 'x' }, ...item }, type).state.volumes;
  for (const type of ['agent', 'job', 'sandbox']) expect(volumes({}, type)).toBe('[]');
  expect(volumes({ spec: { volumes: null } }, 'agent')).toBe('[]');
  for (const type of ['mcp_server', 'model', 'policy']) expect(volumes({}, type)).toBeUndefined();
  const odd = decodeResource({ metadata: { name: 'x' }, spec: { volumes: ['S3CRET'] } }, 'agent');
  expect([odd.state.volumes, odd.strange]).toEqual([undefined, ['spec.volumes']]);
  const spec = { runtime: { type: 'anthropic' } };
  expect(decodeResource({ metadata: { name: 'x' }, spec }, 'model').state.provider).toBe('anthropic');
  expect(decodeResource({ metadata: { name: 'x' }, spec }, 'agent').state.provider).toBeUndefined();
});

test('unlisted fields are not stored, and values that often change are no part of the state', () => {
  const decoded = decodeResource(whole, 'sandbox');
  for (const lost of ['S3CRET', 'registry', 'secret.example', 'bob', 'KEY']) {
    expect(JSON.stringify(decoded)).not.toContain(lost);
  }
  for (const volatile of ['RUNNING', '2026-09-03', '48h'])
    expect(JSON.stringify(decoded.state)).not.toContain(volatile);
});

test('a resource may have a name only', () => {
  const { state, strange } = decodeResource({ metadata: { name: 'box' } }, 'function');
  expect(strange).toEqual([]);
  expect(Object.entries(state).filter(([, value]) => value !== undefined)).toEqual([['name', 'box']]);
});

test('null, empty texts, empty labels and empty lists count as missing', () => {
  const { state, strange } = decodeResource(
    {
      metadata: { name: 'box', displayName: '', externalId: null, labels: {}, createdAt: '' },
      spec: { region: null, integrationConnections: [], runtime: null },
      status: '',
    },
    'function',
  );
  expect(strange).toEqual([]);
  expect(Object.values(state).filter((value) => value !== undefined)).toEqual(['box']);
});

test('a field of an unexpected type is dropped and named without its value; the others stay', () => {
  const { state, strange } = decodeResource(
    {
      metadata: { name: 'box', labels: { team: { S3CRET: 1 }, tier: 3, spot: true, none: null }, createdAt: 'S3CRET' },
      spec: { enabled: 'S3CRET', region: 7, integrationConnections: [{}], runtime: { memory: 1.5, generation: 'mk2' } },
      status: [],
    },
    'sandbox',
  );
  expect(state).toMatchObject({ labels: '{"spot":"true","tier":"3"}', generation: 'mk2' });
  expect([...strange].sort()).toEqual([
    'metadata.createdAt',
    'metadata.labels.team',
    'spec.enabled',
    'spec.integrationConnections',
    'spec.region',
    'spec.runtime.memory',
    'status',
  ]);
});

test('labels named like built-in object properties are labels', () => {
  const labels = JSON.parse('{"__proto__":"a","constructor":"b","10":"c","9":"d"}');
  const { state } = decodeResource({ metadata: { name: 'box', labels } }, 'agent');
  expect(JSON.parse(state.labels ?? '')).toEqual(labels);
});

test('labels are the same text in any order, even if two keys differ only in a lone surrogate', () => {
  const kept = (json: string) =>
    decodeResource({ metadata: { name: 'box', labels: JSON.parse(json) } }, 'agent').state.labels;
  expect(kept(String.raw`{"\ud800":"a","b":"c","\udfff":"d"}`)).toBe('{"b":"c","\ufffd":"d"}');
  expect(kept(String.raw`{"\udfff":"d","\ud800":"a","b":"c"}`)).toBe('{"b":"c","\ufffd":"d"}');
});

test('a number that lost digits in JSON is not a label; names lose a byte order mark', () => {
  const labels = JSON.parse('{"account":12345678901234567890,"small":9007199254740991,"half":0.5}');
  const { state, strange } = decodeResource({ metadata: { name: 'box', displayName: '\uFEFFBox', labels } }, 'agent');
  expect(state).toMatchObject({ displayName: 'Box', labels: '{"half":"0.5","small":"9007199254740991"}' });
  expect(strange).toEqual(['metadata.labels.account']);
});
