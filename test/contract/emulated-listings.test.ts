import { afterEach, describe, expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/fault-plan.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts';
import { listings, openListings } from '../../src/platform/listings.ts';
import { never, rejection, testClient, testEffects } from '../support/http-client.ts';
import { allItems, allPages, askIn, type Entry, type Item, listed, now, placesOf, useEmulator } from './platform.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const storyEnd = Date.UTC(2026, 9, 21);

const running: Emulator[] = [];
afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.close();
});

async function start(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await startEmulator({ now: () => now, storyEnd, ...options });
  running.push(emulator);
  return emulator;
}

const kinds = {
  sandbox: '/v0/sandboxes?showTerminated=true',
  agent: '/v0/agents',
  mcp_server: '/v0/functions',
  job: '/v0/jobs',
  model: '/v0/models',
  policy: '/v0/policies',
} as const;

/** Everything that is listed, by `sandbox research/training-lab`. */
async function fleetOf(emulator: Emulator): Promise<Map<string, Item>> {
  const fleet = new Map<string, Item>();
  for (const [kind, path] of Object.entries(kinds)) {
    const items = await allItems(emulator, path);
    for (const [i, place] of placesOf(items).entries()) {
      const item = items[i];
      if (item !== undefined) fleet.set(`${kind} ${place}`, item);
    }
    expect(new Set(placesOf(items)).size).toBe(items.length);
  }
  return fleet;
}

/** What costs anything between two days of October 2026. */
async function costsBetween(emulator: Emulator, from: number, to: number): Promise<Entry[]> {
  const date = (day: number) => `2026-10-${String(day).padStart(2, '0')}T00:00:00Z`;
  const query = `startTime=${date(from)}&endTime=${date(to)}&groupBy=resource_name,resource_uuid,billing_dimension`;
  return (await allPages(emulator, query)).flatMap(({ data }) => data);
}

function placeOf({ resourceType, workspace, resourceName }: Entry): string {
  return `${resourceType} ${workspace}/${resourceName}`;
}

describe('the fleet and its costs', () => {
  const platform = useEmulator();
  const large = useEmulator({ resources: 1300 });

  test.each([
    ['sixty resources', () => platform.current],
    ['thirteen hundred', () => large.current],
  ] as const)(
    'of %s, everything that costs is listed, but for what has no listing and sandboxes that have ended',
    async (_, emulator) => {
      const fleet = await fleetOf(emulator());
      const costs = await costsBetween(emulator(), 14, 21);
      const unlisted = new Set(costs.filter((entry) => !fleet.has(placeOf(entry))).map((entry) => entry.resourceType));
      expect([...unlisted].sort()).toEqual(['custom_domain', 'sandbox', 'volume']);
      expect(costs.length).toBeGreaterThan(50);
    },
  );

  test('a sandbox that has ended may still cost, and no listing has it: its stored data is kept', async () => {
    const fleet = await fleetOf(platform.current);
    const storing = (await costsBetween(platform.current, 14, 21)).filter(
      (entry) => entry.resourceType === 'sandbox' && !fleet.has(placeOf(entry)),
    );
    expect(storing.map((entry) => [placeOf(entry), entry.billingDimension])).toEqual([
      ['sandbox research/agent-memory-experiment', 'sandbox_image_storage_gbs'],
    ]);
    expect(storing[0]?.summary.cost).toBeGreaterThan(0);
  });

  test('nothing costs before it was created', async () => {
    const fleet = await fleetOf(large.current);
    const query = 'startTime=2026-09-20T00:00:00Z&endTime=2026-10-21T00:00:00Z&resolution=daily';
    const pages = await allPages(large.current, `${query}&groupBy=resource_name,resource_uuid`);
    let young = 0;
    for (const entry of pages.flatMap(({ data }) => data)) {
      const createdAt = Date.parse(fleet.get(placeOf(entry))?.metadata.createdAt ?? '');
      const first = entry.timeseries.find(({ cost }) => cost > 0)?.timestamp ?? '';
      if (Number.isNaN(createdAt)) continue;
      expect(Date.parse(first) + dayMs).toBeGreaterThan(createdAt);
      if (createdAt > Date.UTC(2026, 8, 20)) young += 1;
    }
    expect(young).toBeGreaterThan(10);
  });

  test('labels have gaps, typing errors and several spellings; names have several scripts', async () => {
    const items = [...(await fleetOf(platform.current)).values()];
    const teams = new Set(items.map(({ metadata }) => metadata.labels?.['team']));
    for (const team of ['Payments', 'PAYMENTS', 'paymnets', 'suport', 'research ', undefined]) {
      expect(teams).toContain(team);
    }
    expect(items.some(({ metadata }) => metadata.labels === undefined)).toBe(true);
    const names = items.map(({ metadata }) => metadata.displayName ?? '').join('');
    for (const script of ['Han', 'Hiragana', 'Katakana', 'Cyrillic', 'Arabic', 'Hebrew', 'Devanagari', 'Hangul']) {
      expect(names).toMatch(new RegExp(`\\p{Script=${script}}`, 'u'));
    }
  });

  test('regions, memory sizes, generations and external ids are of several kinds, and some are missing', async () => {
    const items = [...(await fleetOf(platform.current)).values()];
    const several = (values: readonly unknown[]) => [...new Set(values)].length;
    expect(several(items.map(({ spec }) => spec.region))).toBeGreaterThan(3);
    expect(several(items.map(({ spec }) => spec.runtime?.memory))).toBeGreaterThan(4);
    expect(new Set(items.map(({ spec }) => spec.runtime?.generation))).toEqual(new Set(['mk2', 'mk3', undefined]));
    const ids = items.flatMap(({ metadata }) => metadata.externalId ?? []);
    expect(ids.length).toBeGreaterThan(5);
    expect(ids.length).toBeLessThan(items.length);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('reproducibility', () => {
  test('one seed lists the same bytes, another seed other values under the same names', async () => {
    const [one, same, other] = [await start({ seed: 7 }), await start({ seed: 7 }), await start({ seed: 8 })];
    // Each emulator has a port of its own, which is part of URLs.
    const text = async (emulator: Emulator) =>
      JSON.stringify([...(await fleetOf(emulator))]).replaceAll(emulator.url, 'http://emulator');
    const first = await text(one);
    expect(await text(same)).toBe(first);
    expect(await text(other)).not.toBe(first);
    expect([...(await fleetOf(other)).keys()]).toEqual([...(await fleetOf(one)).keys()]);
  });

  test('a resource does not depend on the number of others', async () => {
    const find = async (emulator: Emulator) => {
      const item = JSON.stringify((await fleetOf(emulator)).get('sandbox research/training-lab'));
      return item.replaceAll(emulator.url, 'http://emulator');
    };
    expect(await find(await start({ resources: 500 }))).toEqual(await find(await start()));
  });
});

describe('over time', () => {
  let clock = now;
  const platform = useEmulator({ now: () => clock });

  /** What is listed at an instant, without what is another at every look. */
  async function at(instant: string): Promise<Map<string, string>> {
    clock = Date.parse(instant);
    const fleet = await fleetOf(platform.current);
    const lasting = ([place, { lastUsedAt, expiresIn, ...item }]: [string, Item]): [string, string] => [
      place,
      JSON.stringify(item),
    ];
    return new Map([...fleet].map(lasting));
  }

  async function changes(from: string, to: string): Promise<Record<'made' | 'gone' | 'changed', string[]>> {
    const [before, after] = [await at(from), await at(to)];
    const there = (place: string) => before.has(place) && after.has(place);
    return {
      made: [...after.keys()].filter((place) => !before.has(place)).sort(),
      gone: [...before.keys()].filter((place) => !after.has(place)).sort(),
      changed: [...after.keys()].filter((place) => there(place) && before.get(place) !== after.get(place)).sort(),
    };
  }

  test('one resource is relabelled, one moved and one renamed on 2026-10-20 at noon', async () => {
    expect(await changes('2026-10-20T12:00:00Z', '2026-10-20T13:00:00Z')).toEqual({
      made: [],
      gone: [],
      changed: [
        'agent production/invoice-reader',
        'agent staging/checkout-assistant',
        'job production/nightly-embeddings',
      ],
    });
    const item = async (path: string, instant: string): Promise<Item | undefined> => {
      clock = Date.parse(instant);
      return (await listed(platform.current, path)).data[0];
    };
    const reader = '/v0/agents?q=invoice-reader';
    expect((await item(reader, '2026-10-20T12:14:59Z'))?.metadata.labels?.['team']).toBe('payments');
    expect((await item(reader, '2026-10-20T12:15:00Z'))?.metadata.labels?.['team']).toBe('Payments');
    const embeddings = '/v0/jobs?q=nightly-embeddings';
    expect((await item(embeddings, '2026-10-20T12:29:59Z'))?.spec.region).toBe('eu-lon-1');
    expect((await item(embeddings, '2026-10-20T12:30:00Z'))?.spec.region).toBe('eu-fra-1');
    expect((await item(embeddings, '2026-10-20T12:30:00Z'))?.metadata.updatedAt).toBe('2026-10-20T12:30:00Z');
    const assistant = '/v0/agents?externalId=&q=checkout-assistant&sort=createdAt:asc';
    const renamed = async (instant: string) => {
      clock = Date.parse(instant);
      const { data } = await listed(platform.current, assistant);
      return data.find(({ metadata }) => metadata.workspace === 'staging')?.metadata;
    };
    expect(await renamed('2026-10-20T12:44:59Z')).toMatchObject({ displayName: 'Checkout Assistant (staging)' });
    expect(await renamed('2026-10-20T12:45:00Z')).toMatchObject({
      name: 'checkout-assistant',
      displayName: 'Checkout Assistant (staging, v2)',
    });
  });

  test('in an hour without edits only volatile fields change', async () => {
    expect(await changes('2026-10-20T17:00:00Z', '2026-10-20T18:00:00Z')).toEqual({ made: [], gone: [], changed: [] });
  });

  test('a new sandbox is deploying, deployed, deleting, terminated, and gone after five minutes', async () => {
    const status = async (instant: string) =>
      JSON.parse((await at(instant)).get('sandbox staging/pr-1702-preview') ?? '{}').status;
    expect(await status('2026-09-15T09:59:59Z')).toBeUndefined();
    expect(await status('2026-09-15T10:05:00Z')).toBe('DEPLOYING');
    expect(await status('2026-09-15T10:10:00Z')).toBe('DEPLOYED');
    expect(await status('2026-09-30T09:57:59Z')).toBe('DEPLOYED');
    expect(await status('2026-09-30T09:59:59Z')).toBe('DELETING');
    expect(await status('2026-09-30T10:00:00Z')).toBe('TERMINATED');
    expect(await status('2026-09-30T10:04:59Z')).toBe('TERMINATED');
    expect(await status('2026-09-30T10:05:00Z')).toBeUndefined();
    const retaining = await start({ retentionMs: 26 * 3_600_000, now: () => Date.parse('2026-10-01T11:59:00Z') });
    const { data } = await listed(retaining, '/v0/sandboxes?showTerminated=true&q=pr-1702');
    expect(data[0]).toMatchObject({ status: 'TERMINATED', spec: { lifecycle: { terminatedRetention: '26h' } } });
  });

  test('a trial that returns is a new resource under the old name', async () => {
    const created = async (instant: string) => {
      const trial = (await at(instant)).get('sandbox customer-demos/trial-aster-foods');
      return trial === undefined ? undefined : JSON.parse(trial).metadata.createdAt;
    };
    expect(await created('2025-11-10T00:00:00Z')).toMatch(/^2025-10-27T/);
    expect(await created('2026-03-01T00:00:00Z')).toBeUndefined();
    expect(await created('2026-05-01T00:00:00Z')).toMatch(/^2026-04-25T/);
  });

  test('a model that is switched off is deactivated', async () => {
    const model = async (instant: string) => JSON.parse((await at(instant)).get('model staging/gpt-gateway') ?? '{}');
    expect(await model('2026-08-07T11:00:00Z')).toMatchObject({ status: 'DEPLOYED', spec: { enabled: true } });
    expect(await model('2026-08-07T13:00:00Z')).toMatchObject({ status: 'DEACTIVATED', spec: { enabled: false } });
  });

  test('nothing is listed before the history starts', async () => {
    expect((await at('2025-09-30T23:59:59Z')).size).toBe(0);
  });

  test('sandboxes show when they were used and when they expire, which changes at every request', async () => {
    const look = async (instant: string) => {
      clock = Date.parse(instant);
      return (await allItems(platform.current, '/v0/sandboxes?q=elm-robotics'))[0];
    };
    const [one, two] = [await look('2026-10-20T12:00:00Z'), await look('2026-10-20T18:00:00Z')];
    expect(one?.state).toBe('RUNNING');
    expect((one?.expiresIn ?? 0) - (two?.expiresIn ?? 0)).toBe(6 * 3600);
    expect(one?.lastUsedAt).not.toBe(two?.lastUsedAt);
  });
});

describe('secrets', () => {
  const emulator = useEmulator();

  test.each([
    [
      'sandboxes',
      ['spec.network.proxy.routing.0.secrets.stripe', 'spec.runtime.envs.1.value', 'spec.runtime.envs.2.value'],
    ],
    [
      'agents',
      [
        'spec.repository.url',
        'spec.runtime.envs.1.value',
        'spec.runtime.envs.2.value',
        'spec.triggers.0.configuration.callbackSecret',
      ],
    ],
    [
      'functions',
      ['spec.runtime.envs.1.value', 'spec.runtime.envs.2.value', 'spec.triggers.0.configuration.callbackSecret'],
    ],
    [
      'jobs',
      ['spec.runtime.envs.1.value', 'spec.runtime.envs.2.value', 'spec.triggers.0.configuration.callbackSecret'],
    ],
  ])('of %s are in their specs, each with the same marker', async (kind, places) => {
    const [item] = (await listed(emulator.current, `/v0/${kind}`)).data;
    expect(markedIn(item).sort()).toEqual(places);
  });

  test('of resources are replaced once a month, which changes nothing else', async () => {
    let clock = Date.UTC(2026, 9, 20, 17);
    const platform = await start({ now: () => clock });
    const spec = async () => JSON.stringify((await allItems(platform, '/v0/agents')).map((item) => item.spec));
    const secret = /emulated-secret-[0-9a-f]+/g;
    const before = await spec();
    clock -= 7 * dayMs - 60_000;
    let after = before;
    for (let week = 0; week < 5 && after === before; week++) {
      clock += 7 * dayMs;
      after = await spec();
    }
    expect(after).not.toBe(before);
    const old = new Set(before.match(secret));
    expect(old.size).toBeGreaterThan(10);
    expect((after.match(secret) ?? []).some((each) => old.has(each))).toBe(false);
    expect(after.replace(secret, '')).toBe(before.replace(secret, ''));
  });
});

/** The paths of all texts with the marker in them. */
function markedIn(value: unknown, path = ''): string[] {
  if (typeof value === 'string') return value.includes('emulated-secret-') ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => markedIn(inner, path === '' ? name : `${path}.${name}`));
}

/** Reads every listing as Costbook does. */
async function readAll(emulator: Emulator): Promise<{ places: string[]; doubts: string[]; versions: string[] }> {
  const effects = testEffects({ sleeps: false });
  const client = testClient(emulator.url, { effects, settings: { token: async () => emulator.tokens.admin } });
  const reader = openListings(client, effects.log);
  const places: string[] = [];
  const doubts: string[] = [];
  const versions = new Set<string>();
  for (const listing of listings.filter(({ serves }) => serves === undefined)) {
    let own: string[] = [];
    for await (const page of reader.pages(listing, 'account acc-harbor-labs', never())) {
      if (page.number === 1) own = [];
      own.push(
        ...page.items.map(({ metadata }) => `${listing.resourceType} ${metadata['workspace']}/${metadata.name}`),
      );
      if (page.doubt !== undefined) doubts.push(page.doubt);
      versions.add(page.apiVersion);
    }
    places.push(...own);
  }
  return { places: places.sort(), doubts, versions: [...versions] };
}

describe('faults of listings', () => {
  const sound = useEmulator({ resources: 1300 });

  test.each(['429=0.3', '429-date=0.3', '500=0.3', '503=0.3', 'reset=0.3', 'truncated=0.3', 'expired-cursor=1'])(
    '%s passes, and everything is read in the end',
    async (faults) => {
      const platform = await start({ resources: 1300, faults: parseFaults(faults), faultSeed: 3 });
      const { places, doubts } = await readAll(platform);
      expect(places).toEqual([...(await fleetOf(sound.current)).keys()].sort());
      expect(doubts).toEqual([]);
      expect(platform.requests.some(({ fault }) => fault !== undefined)).toBe(true);
    },
  );

  test('earliest-version: listings are fetched in the version that the refusal names', async () => {
    const platform = await start({ resources: 1300, faults: parseFaults('earliest-version') });
    const { places, doubts, versions } = await readAll(platform);
    expect(places).toEqual([...(await fleetOf(sound.current)).keys()].sort());
    expect([doubts, versions]).toEqual([[], ['2026-04-16']]);
    expect(platform.requests.map(({ status }) => status)).toEqual([400, 200, 200, 200, 200, 200, 200]);
  });

  test('forbidden-listings: listings are 403, metrics are not', async () => {
    const platform = await start({ faults: parseFaults('forbidden-listings') });
    const { status, body } = await askIn(platform, '2026-04-28', '/v0/functions');
    expect(status).toBe(403);
    expect(body).toEqual({ error: 'access_denied', code: 403, message: 'Insufficient permissions' });
    expect((await costsBetween(platform, 20, 21)).length).toBeGreaterThan(0);
    expect(await rejection(readAll(platform))).toMatchObject({ status: 403 });
  });

  test('shrunken-listings: many are missing without notice', async () => {
    const platform = await start({ resources: 1300, faults: parseFaults('shrunken-listings') });
    const { places, doubts } = await readAll(platform);
    const all = [...(await fleetOf(sound.current)).keys()];
    expect(places.length).toBeGreaterThan(all.length * 0.3);
    expect(places.length).toBeLessThan(all.length * 0.5);
    expect(places.every((place) => all.includes(place))).toBe(true);
    expect(doubts).toEqual([]);
  });
});

describe('a large fleet', () => {
  test('reports a lower bound beyond 2500, and is read in pages of 200 without an extra call', async () => {
    const platform = await start({ resources: 45_000 });
    const { meta } = await listed(platform, '/v0/sandboxes?limit=1&showTerminated=true');
    expect(meta).toMatchObject({ total: 2_500, totalIsPartial: true });
    const asked = platform.requests.length;
    const { places, doubts } = await readAll(platform);
    expect(places.length).toBeGreaterThan(20_000);
    expect(new Set(places).size).toBe(places.length);
    expect(doubts).toEqual([]);
    const calls = listings.map(({ resourceType }) =>
      Math.ceil(places.filter((place) => place.startsWith(`${resourceType} `)).length / 200),
    );
    expect(platform.requests.length - asked).toBe(calls.reduce((sum, count) => sum + count, 0));
  });
});
