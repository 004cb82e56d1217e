import { describe, expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/fault-plan.ts';
import { operations } from '../../src/platform/interface/operations.ts';
import { allItems, ask, askIn, type Item, listed, now, placesOf, useEmulator } from './platform.ts';

const platform = useEmulator();
/** Enough of every kind for several pages. */
const large = useEmulator({ resources: 1500 });

const kinds = ['sandboxes', 'agents', 'functions', 'jobs', 'models', 'policies'] as const;
const withStatus = ['sandboxes', 'agents', 'functions', 'jobs', 'models'] as const;
const early = ['2026-04-16', undefined] as const;
const statuses = [
  'DELETING',
  'TERMINATED',
  'FAILED',
  'DEACTIVATED',
  'DEACTIVATING',
  'UPLOADING',
  'BUILDING',
  'DEPLOYING',
  'DEPLOYED',
  'BUILT',
  'ARCHIVING',
  'ARCHIVED',
  'UNARCHIVING',
];

function created(items: readonly Item[]): string[] {
  return items.map(({ metadata }) => metadata.createdAt);
}

function isTerminated({ status }: Item): boolean {
  return status === 'TERMINATED';
}

describe('the response (4.1, 9.6)', () => {
  test.each(kinds)('%s: {data, meta} from 2026-04-28 on', async (kind) => {
    const { status, body } = await askIn(platform.current, '2026-04-28', `/v0/${kind}`);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['data', 'meta']);
    expect(body.data.length).toBeGreaterThan(0);
    expect(Object.keys(body.meta).sort()).toEqual(['hasMore', 'nextCursor', 'total', 'totalIsPartial']);
    expect(operations[kind].response.safeParse(body).error).toBeUndefined();
  });

  test.each(kinds)('%s: before that a bare array of all items, also without the header (9.3)', async (kind) => {
    const all = await allItems(large.current, `/v0/${kind}`);
    for (const version of early) {
      const { status, body } = await askIn(large.current, version, `/v0/${kind}`);
      expect(status).toBe(200);
      expect(Array.isArray(body)).toBe(true);
      expect(body).toEqual(all);
      expect(operations[kind].response.safeParse(body).error).toBeUndefined();
    }
  });

  test('every item has metadata and spec; deployed kinds have events and a status, sandboxes no events', async () => {
    for (const kind of kinds) {
      const { data } = await listed(platform.current, `/v0/${kind}`);
      for (const item of data) {
        expect(item.metadata.name).toMatch(/^[a-z0-9-]{1,49}$/);
        expect(item.metadata.displayName?.length ?? 0).toBeLessThanOrEqual(63);
        expect(item.metadata.externalId ?? '').toMatch(/^[a-zA-Z0-9-]{0,64}$/);
        expect(typeof item.spec).toBe('object');
        if (kind === 'policies') expect(item).not.toHaveProperty('status');
        else expect(statuses).toContain(item.status);
        const hasEvents = kind !== 'policies' && kind !== 'sandboxes';
        expect(Array.isArray(item.events)).toBe(hasEvents);
      }
    }
  });

  test.each(['sandboxes', 'agents', 'functions', 'models'])('%s have a URL', async (kind) => {
    const { data } = await listed(platform.current, `/v0/${kind}`);
    for (const { metadata } of data) expect(metadata.url).toContain(metadata.name);
  });

  test('events are deployments in order, with revisions (2.3)', async () => {
    const { data } = await listed(platform.current, '/v0/agents?q=support-triage');
    const [agent] = data.filter(({ metadata }) => metadata.workspace === 'production');
    const events = agent?.events ?? [];
    expect(events.map(({ type, status }) => `${type} ${status}`)).toEqual(
      [1, 2].flatMap(() =>
        ['UPLOADING', 'BUILDING', 'BUILT', 'DEPLOYING', 'DEPLOYED'].map((status) => `deployment ${status}`),
      ),
    );
    expect(events.map(({ time }) => time)).toEqual(events.map(({ time }) => time).sort());
    expect(agent?.spec.revision.active).toBe(events.at(-1)?.revision);
  });
});

describe('credentials (4.1, 5)', () => {
  test.each(kinds)('%s: a wrong token is 401', async (kind) => {
    const { status, body } = await askIn(platform.current, '2026-04-28', `/v0/${kind}`, 'nobody');
    expect(status).toBe(401);
    expect(body).toMatchObject({ error: 'unauthorized', code: 401 });
  });

  test('a workspace token lists that workspace; the admin token lists all', async () => {
    const { workspaceTokens, tokens } = platform.current;
    expect(Object.keys(workspaceTokens)).toEqual(['production', 'staging', 'research', 'customer-demos']);
    const all = placesOf(await allItems(platform.current, '/v0/sandboxes?showTerminated=true'));
    const parts: string[] = [];
    for (const [workspace, token] of Object.entries(workspaceTokens)) {
      const { data, meta } = await listed(platform.current, '/v0/sandboxes?showTerminated=true&limit=200', token);
      expect(data.every(({ metadata }) => metadata.workspace === workspace)).toBe(true);
      expect(meta.total).toBe(data.length);
      parts.push(...placesOf(data));
    }
    expect(parts.sort()).toEqual(all.sort());
    const member = await allItems(platform.current, '/v0/agents', tokens.member);
    expect(new Set(member.map(({ metadata }) => metadata.workspace))).toEqual(new Set(['production']));
  });

  test('GET is the only method', async () => {
    const response = await fetch(`${platform.current.url}/v0/sandboxes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.current.tokens.admin}` },
    });
    expect(response.status).toBe(405);
  });
});

describe('limit (4.1, 8)', () => {
  test('a page has 50 items by default', async () => {
    expect((await listed(large.current, '/v0/agents')).data).toHaveLength(50);
  });

  test.each([
    [1, 1],
    [199, 199],
    [200, 200],
    [201, 200],
    [100_000, 200],
  ])('limit=%i returns %i', async (limit, length) => {
    const { data, meta } = await listed(large.current, `/v0/agents?limit=${limit}`);
    expect(data).toHaveLength(length);
    expect(meta.hasMore).toBe(true);
  });

  test.each(['0', '-1', '2.5', 'all', ''])('limit=%s is refused', async (limit) => {
    const { status, body } = await askIn(large.current, '2026-04-28', `/v0/agents?limit=${limit}`);
    expect([status, body.error]).toEqual([400, 'invalid_parameter']);
    expect(body.message).toContain('limit');
  });

  test.each(early)('is ignored in version %s', async (version) => {
    const { body } = await askIn(large.current, version, '/v0/agents?limit=5');
    expect(body.length).toBeGreaterThan(200);
  });
});

describe('meta (2.13)', () => {
  test('hasMore and nextCursor lead to the last page, where nextCursor is empty; total is the same on each', async () => {
    const seen: number[] = [];
    let cursor = '';
    let total = 0;
    for (;;) {
      const { data, meta } = await listed(large.current, `/v0/agents?limit=90${cursor && `&cursor=${cursor}`}`);
      seen.push(data.length);
      expect(meta.totalIsPartial).toBe(false);
      if (seen.length > 1) expect(meta.total).toBe(total);
      total = meta.total;
      expect(meta.nextCursor === '').toBe(!meta.hasMore);
      if (!meta.hasMore) break;
      expect(data).toHaveLength(90);
      cursor = meta.nextCursor;
    }
    expect(seen.reduce((sum, length) => sum + length, 0)).toBe(total);
    expect(seen).toHaveLength(Math.ceil(total / 90));
  });

  test('pages of any size have the same items in the same order, without repeats', async () => {
    const whole = placesOf(await allItems(large.current, '/v0/jobs'));
    expect(new Set(whole).size).toBe(whole.length);
    const pages: string[] = [];
    let query = '/v0/jobs?limit=17';
    for (let more = true; more; ) {
      const { data, meta } = await listed(large.current, query);
      pages.push(...placesOf(data));
      more = meta.hasMore;
      query = `/v0/jobs?limit=17&cursor=${meta.nextCursor}`;
    }
    expect(pages).toEqual(whole);
  });

  test('total ignores page filters and q', async () => {
    const { meta } = await listed(platform.current, '/v0/agents');
    for (const filter of ['limit=1', 'q=checkout', 'externalId=HL-CHK-001', 'anchor=end', 'status=FAILED']) {
      expect((await listed(platform.current, `/v0/agents?${filter}`)).meta.total).toBe(meta.total);
    }
  });

  test('total counts terminated sandboxes also where they are hidden', async () => {
    const all = await listed(platform.current, '/v0/sandboxes?showTerminated=true');
    const running = await listed(platform.current, '/v0/sandboxes');
    expect(running.data.length).toBeLessThan(all.data.length);
    for (const { meta } of [running, all, await listed(platform.current, '/v0/sandboxes?status=FAILED')]) {
      expect(meta.total).toBe(all.data.length);
    }
  });

  test('an exactly full last page has no next page', async () => {
    const { meta } = await listed(platform.current, '/v0/agents');
    const full = await listed(platform.current, `/v0/agents?limit=${meta.total}`);
    expect(full.meta).toEqual({ hasMore: false, nextCursor: '', total: meta.total, totalIsPartial: false });
  });

  test('an empty listing is an empty page', async () => {
    expect(await listed(platform.current, '/v0/agents?status=FAILED')).toMatchObject({
      data: [],
      meta: { hasMore: false, nextCursor: '' },
    });
  });
});

describe('sort (4.1)', () => {
  test.each(kinds)('%s: the newest first by default', async (kind) => {
    const items = await allItems(platform.current, `/v0/${kind}`);
    expect(created(items)).toEqual(created(items).sort().reverse());
    expect(await allItems(platform.current, `/v0/${kind}?sort=createdAt:desc`)).toEqual(items);
  });

  test('sorts by oldest and by name both ways, over several pages', async () => {
    const oldest = await allItems(large.current, '/v0/agents?sort=createdAt:asc');
    expect(oldest.length).toBeGreaterThan(200);
    expect(created(oldest)).toEqual(created(oldest).sort());
    const names = (items: readonly Item[]) => items.map(({ metadata }) => metadata.name);
    const byName = names(await allItems(large.current, '/v0/agents?sort=name:asc'));
    expect(byName).toEqual([...byName].sort());
    expect(names(await allItems(large.current, '/v0/agents?sort=name:desc'))).toEqual([...byName].reverse());
  });

  test.each(['name', 'createdAt', 'updatedAt:asc', 'name:ASC', ''])('"%s" is refused', async (sort) => {
    expect((await askIn(platform.current, '2026-04-28', `/v0/agents?sort=${sort}`)).status).toBe(400);
  });

  test.each(early)('is neither honoured nor checked in version %s', async (version) => {
    expect((await askIn(platform.current, version, '/v0/agents?sort=loudest')).status).toBe(200);
    expect((await askIn(platform.current, version, `/v0/agents?q=${'x'.repeat(201)}`)).status).toBe(200);
    const { body } = await askIn(platform.current, version, '/v0/agents?sort=name:asc');
    expect(body).toEqual((await askIn(platform.current, version, '/v0/agents')).body);
  });
});

describe('q (4.1, 8)', () => {
  async function found(q: string, kind = 'agents'): Promise<string[]> {
    return placesOf(await allItems(platform.current, `/v0/${kind}?q=${encodeURIComponent(q)}`)).sort();
  }

  test.each([
    ['a part of a name', 'out-assis', ['production/checkout-assistant', 'staging/checkout-assistant']],
    ['a display name', 'チャ', []],
    ['a display name in another script', 'さがし', ['research/paper-scout']],
    ['a label key', 'ticket', ['production/fraud-watch']],
    ['a label value', 'ops-1107', ['production/fraud-watch']],
    ['capitals', 'FRAUD-W', ['production/fraud-watch']],
    ['spaces around', '  fraud-w ', ['production/fraud-watch']],
  ])('finds %s', async (_, q, places) => {
    expect(await found(q)).toEqual(places);
  });

  test.each(['', 'x', ' x ', '   ', '😀'])('"%s" has under 2 characters and filters nothing', async (q) => {
    expect(await found(q)).toEqual(placesOf(await allItems(platform.current, '/v0/agents')).sort());
  });

  test('of more than 200 characters is refused', async () => {
    const ask = (length: number, letter = 'x') =>
      askIn(platform.current, '2026-04-28', `/v0/agents?q=${encodeURIComponent(letter.repeat(length))}`);
    expect((await ask(200)).status).toBe(200);
    expect((await ask(200, '😀')).status).toBe(200);
    const { status, body } = await ask(201);
    expect(status).toBe(400);
    expect(body.message).toContain('q');
  });

  test.each(early)('is not honoured in version %s', async (version) => {
    const { body } = await askIn(platform.current, version, '/v0/agents?q=checkout');
    expect(body).toEqual((await askIn(platform.current, version, '/v0/agents')).body);
  });
});

describe('anchor (4.1)', () => {
  test.each(['createdAt:desc', 'createdAt:asc'])('end is the tail page of %s', async (sort) => {
    const all = await allItems(large.current, `/v0/agents?sort=${sort}`);
    const tail = await listed(large.current, `/v0/agents?sort=${sort}&anchor=end&limit=30`);
    expect(tail.data).toEqual(all.slice(-30));
    expect(tail.meta).toMatchObject({ hasMore: false, nextCursor: '', total: all.length });
  });

  test('end returns everything that fits one page', async () => {
    const { data } = await listed(platform.current, '/v0/agents?anchor=end');
    expect(data).toEqual((await listed(platform.current, '/v0/agents')).data);
  });

  test.each(['anchor=start', 'anchor=', 'anchor=end&sort=name:asc', 'anchor=end&sort=name:desc'])(
    '%s is refused',
    async (query) => {
      const { status, body } = await askIn(platform.current, '2026-04-28', `/v0/agents?${query}`);
      expect(status).toBe(400);
      expect(body.message).toContain('anchor');
    },
  );
});

describe('externalId (4.1, 8)', () => {
  test('returns only resources with that ID, in every version', async () => {
    const path = '/v0/agents?externalId=HL-CHK-001';
    expect(placesOf((await listed(platform.current, path)).data)).toEqual(['production/checkout-assistant']);
    for (const version of early) {
      expect(placesOf((await askIn(platform.current, version, path)).body)).toEqual(['production/checkout-assistant']);
    }
    expect((await listed(platform.current, '/v0/agents?externalId=hl-chk-001')).data).toEqual([]);
  });

  test.each(['HL_CHK', 'a%20b', 'ü', 'x'.repeat(65)])('"%s" is refused', async (id) => {
    expect((await askIn(platform.current, '2026-04-28', `/v0/agents?externalId=${id}`)).status).toBe(400);
    expect((await askIn(platform.current, '2026-04-28', `/v0/agents?externalId=${'x'.repeat(64)}`)).status).toBe(200);
  });
});

describe('status (4.1, 7)', () => {
  test('status is a list in any case and order', async () => {
    const all = await allItems(platform.current, '/v0/models');
    const of = async (status: string) => placesOf(await allItems(platform.current, `/v0/models?status=${status}`));
    expect(await of('DEACTIVATED')).toEqual(['staging/gpt-gateway']);
    expect(await of('deactivated')).toEqual(['staging/gpt-gateway']);
    expect(await of('Failed,deActivated')).toEqual(['staging/gpt-gateway']);
    expect(await of('deployed')).toEqual(placesOf(all.filter(({ status }) => status === 'DEPLOYED')));
    expect((await of('deployed,deactivated')).length).toBe(all.length);
  });

  test.each(withStatus)('%s: an unknown value is 400 in every version', async (kind) => {
    for (const version of ['2026-04-28', ...early]) {
      for (const status of ['RUNNING', 'DEPLOYED,OK', 'DEPLOYED,', '']) {
        const { status: code, body } = await askIn(platform.current, version, `/v0/${kind}?status=${status}`);
        expect(code).toBe(400);
        expect(body.message).toContain('status');
      }
    }
  });

  test.each(['agents', 'functions', 'jobs', 'models'])('%s are not filtered before 2026-04-28', async (kind) => {
    for (const version of early) {
      const { body } = await askIn(platform.current, version, `/v0/${kind}?status=FAILED`);
      expect(body).toEqual((await askIn(platform.current, version, `/v0/${kind}`)).body);
    }
  });

  test('sandboxes are filtered in every version', async () => {
    const paged = placesOf(await allItems(platform.current, '/v0/sandboxes?status=terminated'));
    expect(paged.length).toBeGreaterThan(0);
    for (const version of early) {
      const { body } = await askIn(platform.current, version, '/v0/sandboxes?status=terminated');
      expect(placesOf(body)).toEqual(paged);
    }
  });

  test('listing every status filters nothing', async () => {
    const none = await allItems(platform.current, '/v0/sandboxes');
    expect(await allItems(platform.current, `/v0/sandboxes?status=${statuses.join(',')}`)).toEqual(none);
    expect(none.some(isTerminated)).toBe(false);
  });

  test('policies have no status filter', async () => {
    expect((await askIn(platform.current, '2026-04-28', '/v0/policies?status=DEPLOYED')).status).toBe(400);
  });
});

describe('showTerminated (4.1, 3.1)', () => {
  test.each(['2026-04-28', ...early])('terminated sandboxes are shown only if requested (%s)', async (version) => {
    const of = async (query: string): Promise<Item[]> => {
      const { body } = await askIn(platform.current, version, `/v0/sandboxes?${query}`);
      return version === '2026-04-28' ? body.data : body;
    };
    expect((await of('limit=200')).some(isTerminated)).toBe(false);
    expect((await of('limit=200&showTerminated=false')).some(isTerminated)).toBe(false);
    const all = await of('limit=200&showTerminated=true');
    expect(all.some(isTerminated)).toBe(true);
    expect(all.filter((item) => !isTerminated(item))).toEqual(await of('limit=200'));
  });

  test('status takes precedence', async () => {
    const of = (query: string) => allItems(platform.current, `/v0/sandboxes?${query}`);
    expect((await of('status=TERMINATED&showTerminated=false')).every(isTerminated)).toBe(true);
    expect((await of('status=TERMINATED')).length).toBeGreaterThan(0);
    expect((await of('status=DEPLOYED&showTerminated=true')).some(isTerminated)).toBe(false);
  });

  test.each(['1', 'yes', 'TRUE', ''])('"%s" is refused', async (value) => {
    const { status } = await askIn(platform.current, '2026-04-28', `/v0/sandboxes?showTerminated=${value}`);
    expect(status).toBe(400);
  });

  test('applies to sandboxes only', async () => {
    expect((await askIn(platform.current, '2026-04-28', '/v0/agents?showTerminated=true')).status).toBe(400);
  });
});

describe('cursors (4.1, 7.4, 8)', () => {
  const base = '/v0/sandboxes?limit=5';

  test.each([
    ['another order', `${base}&sort=name:asc`],
    ['a search', `${base}&q=preview`],
    ['an external id', `${base}&externalId=pr-1`],
    ['a status', `${base}&status=DEPLOYED`],
    ['terminated ones', `${base}&showTerminated=true`],
    ['another kind', '/v0/agents?limit=5'],
  ])('a cursor is rejected with %s', async (_, query) => {
    const { nextCursor } = (await listed(large.current, base)).meta;
    const { status, body } = await askIn(large.current, '2026-04-28', `${query}&cursor=${nextCursor}`);
    expect([status, body.error]).toEqual([400, 'invalid_cursor']);
  });

  test('a cursor of one workspace is rejected in another', async () => {
    const { production, research } = large.current.workspaceTokens;
    const { nextCursor } = (await listed(large.current, '/v0/agents?limit=2', production)).meta;
    const path = `/v0/agents?limit=2&cursor=${nextCursor}`;
    expect((await askIn(large.current, '2026-04-28', path, production)).status).toBe(200);
    expect((await askIn(large.current, '2026-04-28', path, research)).status).toBe(400);
  });

  test('a cursor belongs to the query, not to its notation or page size', async () => {
    const all = await allItems(large.current, '/v0/sandboxes?status=DEPLOYED,DEPLOYING');
    const { nextCursor } = (await listed(large.current, '/v0/sandboxes?status=DEPLOYED,DEPLOYING&limit=5')).meta;
    const other = `/v0/sandboxes?q=x&sort=createdAt:desc&limit=20&status=deploying,deployed&cursor=${nextCursor}`;
    expect(placesOf((await listed(large.current, other)).data)).toEqual(placesOf(all.slice(5, 25)));
  });

  test.each(['x', 'WzEwLDAsMF0.AAAAAAAAAAAAAAAA', ''])('"%s" is not a cursor', async (cursor) => {
    expect((await askIn(large.current, '2026-04-28', `${base}&cursor=${cursor}`)).status).toBe(400);
  });
});

describe('cursors and time (4.1, 7.4)', () => {
  let clock = now;
  const moving = useEmulator({ now: () => clock, resources: 300 });

  test('a cursor lives for 24 hours and no longer', async () => {
    clock = now;
    const path = '/v0/sandboxes?limit=3';
    const { nextCursor } = (await listed(moving.current, path)).meta;
    clock = now + 86_400_000;
    expect((await askIn(moving.current, '2026-04-28', `${path}&cursor=${nextCursor}`)).status).toBe(200);
    clock = now + 86_401_000;
    const { status, body } = await askIn(moving.current, '2026-04-28', `${path}&cursor=${nextCursor}`);
    expect([status, body.error]).toEqual([400, 'invalid_cursor']);
    expect(body.message).toContain('24 hours');
  });

  test('pages show one instant: resources created or removed meanwhile move nothing', async () => {
    clock = now;
    const whole = placesOf(await allItems(moving.current, '/v0/sandboxes'));
    let page = await listed(moving.current, '/v0/sandboxes?limit=20');
    const turned = [...placesOf(page.data)];
    while (page.meta.hasMore) {
      clock += 3_600_000;
      page = await listed(moving.current, `/v0/sandboxes?limit=20&cursor=${page.meta.nextCursor}`);
      turned.push(...placesOf(page.data));
    }
    expect(turned).toEqual(whole);
    expect(clock).toBeGreaterThan(now);
  });
});

describe('illegal requests', () => {
  test.each(['page=2', 'offset=10', 'sort=name:asc&sort=name:desc'])('%s is 400', async (query) => {
    expect((await askIn(platform.current, '2026-04-28', `/v0/agents?${query}`)).status).toBe(400);
  });

  test.each([
    '/v0/sandbox',
    '/v0/sandboxes/',
    '/v0/mcp_servers',
    '/v0/agents/checkout-assistant/revisions',
    '/sandboxes',
  ])('%s is 404', async (path) => {
    expect((await ask(platform.current, path)).status).toBe(404);
  });
});

describe('versions (9)', () => {
  test.each(['2026-04-28.preview', '2026-05-01', '2026-04', 'latest'])(
    'version %s is invalid_api_version, and the message names it and the valid ones',
    async (version) => {
      const { status, body } = await askIn(platform.current, version, '/v0/agents');
      expect([status, body.error]).toEqual([400, 'invalid_api_version']);
      for (const named of [version, '2026-04-16', '2026-04-28']) expect(body.message).toContain(named);
    },
  );

  test('a preview version is valid and has pages (9.2)', async () => {
    const { message } = (await askIn(platform.current, 'latest', '/v0/agents')).body;
    const preview = /\d{4}-\d{2}-\d{2}\.preview/.exec(message)?.[0];
    const { status, body } = await askIn(platform.current, preview, '/v0/agents?limit=1');
    expect(status).toBe(200);
    expect(body.data).toHaveLength(1);
  });

  describe('if only the earliest one is supported (9.5, 9.7)', () => {
    const old = useEmulator({ faults: parseFaults('earliest-version') });

    test('2026-04-28 is refused with the valid versions, and the earliest works', async () => {
      const { status, body } = await askIn(old.current, '2026-04-28', '/v0/agents');
      expect([status, body.error]).toEqual([400, 'invalid_api_version']);
      expect(body.message).toBe('Unknown API version "2026-04-28"; valid versions are 2026-04-16');
      expect((await askIn(old.current, '2026-04-16', '/v0/agents')).body.length).toBeGreaterThan(5);
    });
  });
});
