import { describe, expect, test } from 'vitest';
import { PlatformError, RefusedAnswerError } from '../../src/base/errors.ts';
import { type Listing, type ListingPage, listings, openListings } from '../../src/platform/listings.ts';
import { never, rejection, testClient, testEffects } from '../support/http-client.ts';
import { answer, inTurn, type Reply, refuse, type SeenRequest, startServer } from '../support/http-server.ts';

const about = 'account acc_one';

function listing(kind: Listing['kind']): Listing {
  const found = listings.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(kind);
  return found;
}

function item(name: string): { metadata: { name: string; workspace: string } } {
  return { metadata: { name, workspace: 'production' } };
}

function page(names: readonly string[], nextCursor = '', total = names.length): Reply {
  return answer({
    data: names.map(item),
    meta: { hasMore: nextCursor !== '', nextCursor, total, totalIsPartial: false },
  });
}

/** Everything that a listing's pages say, from the last one that was numbered 1 on. */
async function read(
  url: string,
  options: { kind?: Listing['kind']; apiVersion?: string } = {},
): Promise<{ names: string[]; pages: ListingPage[]; logged: { event: string; fields: Record<string, unknown> }[] }> {
  const effects = testEffects();
  const client = testClient(url, { effects, settings: { apiVersion: options.apiVersion ?? '2026-04-16' } });
  let pages: ListingPage[] = [];
  for await (const each of openListings(client, effects.log).pages(listing(options.kind ?? 'agent'), about, never())) {
    if (each.number === 1) pages = [];
    pages.push(each);
  }
  const { logged } = effects;
  return { names: pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.name)), pages, logged };
}

async function failure(reply: Reply, kind: Listing['kind'] = 'agent'): Promise<Error> {
  const server = await startServer(reply);
  const error = await rejection(read(server.url, { kind }));
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

function version({ headers }: SeenRequest): string | string[] | undefined {
  return headers['service-version'];
}

describe('the listings', () => {
  test('are the paths of 4.1, each with the resource type of its costs', () => {
    const described = listings.filter(({ serves }) => serves === undefined);
    expect(described.map(({ kind, resourceType, operation }) => [kind, resourceType, operation.path])).toEqual([
      ['sandbox', 'sandbox', '/v0/sandboxes'],
      ['agent', 'agent', '/v0/agents'],
      ['function', 'mcp_server', '/v0/functions'],
      ['job', 'job', '/v0/jobs'],
      ['model', 'model', '/v0/models'],
      ['policy', 'policy', '/v0/policies'],
    ]);
  });

  test('of the public description are asked for every night if owners depend on them, and else once a week', () => {
    const more = listings.filter(({ serves }) => serves !== undefined);
    expect(more.map(({ operation, everyDays = 1 }) => `${operation.path} ${everyDays}`)).toEqual([
      '/v0/volumes 1',
      '/v0/customdomains 1',
      '/v0/images 7',
      '/v0/snapshots 7',
      '/v0/integrations/connections 7',
      '/v0/users 7',
      '/v0/service_accounts 7',
    ]);
  });

  test('take the parameters of 4.1: policies no status, sandboxes alone showTerminated', () => {
    const parameters = (kind: Listing['kind']) => listing(kind).operation.parameters.map(({ name }) => name);
    const shared = ['workspace', 'cursor', 'limit', 'sort', 'q', 'anchor', 'externalId'];
    expect(parameters('sandbox')).toEqual([...shared, 'status', 'showTerminated']);
    for (const kind of ['agent', 'function', 'job', 'model'] as const) {
      expect(parameters(kind)).toEqual([...shared, 'status']);
    }
    expect(parameters('policy')).toEqual(shared);
  });
});

describe('a listing request', () => {
  test('asks for pages of 200 in the first version that has pages, even if the client is set to an earlier one', async () => {
    const server = await startServer(page(['a']));
    await read(server.url);
    expect(server.seen.map(({ url }) => url)).toEqual(['/v0/agents?limit=200&sort=createdAt:asc']);
    expect(server.seen.map(version)).toEqual(['2026-04-28']);
  });

  test('asks for a later version if the client is set to one', async () => {
    const server = await startServer(page(['a']));
    expect((await read(server.url, { apiVersion: '2026-09-01.preview' })).pages[0]?.apiVersion).toBe(
      '2026-09-01.preview',
    );
    expect(server.seen.map(version)).toEqual(['2026-09-01.preview']);
  });

  test('asks for terminated sandboxes on every page', async () => {
    const server = await startServer(inTurn(page(['a'], 'c1', 2), page(['b'], '', 2)));
    expect((await read(server.url, { kind: 'sandbox' })).names).toEqual(['a', 'b']);
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/v0/sandboxes?limit=200&sort=createdAt:asc&showTerminated=true',
      '/v0/sandboxes?cursor=c1&limit=200&sort=createdAt:asc&showTerminated=true',
    ]);
  });

  test('fetches twenty thousand items in a hundred calls, page by page', async () => {
    const server = await startServer((response, request) => {
      const first = Number(request.query.get('cursor') ?? 0);
      const size = Number(request.query.get('limit'));
      const next = first + size < 20_000 ? String(first + size) : '';
      page(
        Array.from({ length: size }, (_, i) => `sandbox-${first + i}`),
        next,
        20_000,
      )(response, request);
    });
    const client = testClient(server.url);
    const names = new Set<string>();
    let largest = 0;
    let last: ListingPage | undefined;
    for await (const each of openListings(client, testEffects().log).pages(listing('sandbox'), about, never())) {
      for (const { metadata } of each.items) names.add(metadata.name);
      largest = Math.max(largest, each.items.length);
      last = each;
    }
    expect(names.size).toBe(20_000);
    expect(server.seen).toHaveLength(100);
    expect(largest).toBe(200);
    expect(last).toMatchObject({ number: 100, isLast: true, doubt: undefined });
  });
});

describe('pages of a listing (2.13)', () => {
  test('of one item each are refused after a hundred, with what was found', async () => {
    const server = await startServer((response, request) => {
      const number = Number(request.query.get('cursor') ?? 1);
      page([`agent-${number}`], String(number + 1))(response, request);
    });
    const error = await rejection(read(server.url));
    expect(error).toBeInstanceOf(RefusedAnswerError);
    expect((error as Error).message).toMatch(/: found 100 items on the first 100 pages, expected about 200 on each$/);
    expect(server.seen).toHaveLength(100);
  });

  test('are fetched until hasMore is false, even if total is a lower bound', async () => {
    const meta = (nextCursor: string) => ({ hasMore: nextCursor !== '', nextCursor, total: 1, totalIsPartial: true });
    const server = await startServer(
      inTurn(
        answer({ data: [item('a')], meta: meta('c1') }),
        answer({ data: [], meta: meta('c2') }),
        answer({ data: [item('b')], meta: meta('') }),
      ),
    );
    const { names, pages } = await read(server.url);
    expect(names).toEqual(['a', 'b']);
    expect(pages.map(({ isLast }) => isLast)).toEqual([false, false, true]);
    expect(pages[2]?.doubt).toBeUndefined();
  });

  test('fewer items than the platform counts raise a doubt', async () => {
    const server = await startServer(inTurn(page(['a'], 'c1', 4), page(['b', 'c'], '', 4)));
    const { pages } = await read(server.url);
    expect(pages.map(({ doubt }) => doubt)).toEqual([undefined, 'the platform counts 4 items and listed 3']);
  });

  test('a lower bound of the total raises none', async () => {
    const meta = { hasMore: false, nextCursor: '', total: 4, totalIsPartial: true };
    const server = await startServer(answer({ data: [item('a')], meta }));
    expect((await read(server.url)).pages[0]?.doubt).toBeUndefined();
  });

  test.each([
    ['hasMore is left out and there is a cursor', { nextCursor: 'c1', total: 2 }],
    ['totalIsPartial and total are left out', { hasMore: true, nextCursor: 'c1' }],
  ])('if %s, the next page is fetched', async (_, meta) => {
    const server = await startServer(inTurn(answer({ data: [item('a')], meta }), page(['b'])));
    expect((await read(server.url)).names).toEqual(['a', 'b']);
  });

  test.each([
    ['an empty meta', { data: [item('a')], meta: {} }],
    ['nextCursor null', { data: [item('a')], meta: { hasMore: false, nextCursor: null, total: 1 } }],
    ['a cursor on the last page', { data: [item('a')], meta: { hasMore: false, nextCursor: 'c9', total: 1 } }],
    ['unknown fields', { data: [item('a')], meta: { hasMore: false, pages: 1 }, links: {} }],
    ['a total that is no count', { data: [item('a')], meta: { hasMore: false, total: 1e300 } }],
  ])('with %s, this was the last page', async (_, body) => {
    const server = await startServer(answer(body));
    const { names, pages } = await read(server.url);
    expect(names).toEqual(['a']);
    expect(pages[0]).toMatchObject({ isLast: true, doubt: undefined });
  });

  test.each([
    ['null', { data: null, meta: { hasMore: false, nextCursor: '', total: 0 } }],
    ['left out', { meta: { hasMore: false } }],
  ])('an empty list that is %s is an empty list', async (_, body) => {
    const server = await startServer(answer(body));
    const { pages } = await read(server.url);
    expect(pages).toMatchObject([{ number: 1, items: [], isLast: true, doubt: undefined }]);
  });

  test('an envelope without meta is accepted, with a doubt', async () => {
    const server = await startServer(answer({ data: [item('a')] }));
    const { names, pages } = await read(server.url);
    expect(names).toEqual(['a']);
    expect(pages[0]?.doubt).toBe('the answer has no meta, which would say whether there are more');
  });
});

describe('a bare list (4.1)', () => {
  test('is complete for any requested version', async () => {
    const server = await startServer(answer([item('a'), item('b')]));
    const { names, pages } = await read(server.url);
    expect(names).toEqual(['a', 'b']);
    expect(pages).toMatchObject([{ isLast: true, doubt: undefined }]);
    expect(server.seen).toHaveLength(1);
  });

  test.each([199, 201, 5000])('of %i items raises no doubt', async (length) => {
    const server = await startServer(answer(Array.from({ length }, (_, i) => item(`a${i}`))));
    expect((await read(server.url)).pages).toMatchObject([{ isLast: true, doubt: undefined }]);
  });

  test('of exactly as many items as requested raises a doubt', async () => {
    const server = await startServer(answer(Array.from({ length: 200 }, (_, i) => item(`a${i}`))));
    expect((await read(server.url)).pages[0]?.doubt).toBe(
      'it has exactly the 200 requested items and does not say whether there are more',
    );
  });

  test('is not a valid answer to a cursor', async () => {
    expect(await failure(inTurn(page(['a'], 'c1', 2), answer([item('a'), item('b')])))).toEqual(
      new RefusedAnswerError(
        `${about}, agents, page 2: the answer to a cursor: found a list of 2, expected {data, meta}`,
      ),
    );
  });
});

describe('an error about an answer that is not a list names kind and page', () => {
  test.each<[unknown, string]>([
    [{}, 'data: found an empty object, expected a list'],
    [{ items: [] }, 'data: found an object with "items", expected a list'],
    [{ data: {}, meta: {} }, 'data: found an empty object, expected a list'],
    [{ data: 'none', meta: {} }, 'data: found a string, expected a list'],
    [{ data: null }, 'data: found an object with "data", expected a list'],
    [{ data: null, meta: { hasMore: false, total: 3 } }, 'data: found an object with "data", "meta", expected a list'],
    [{ meta: { hasMore: true, nextCursor: 'c' } }, 'data: found an object with "meta", expected a list'],
    [{ data: [], meta: [] }, 'meta: found a list of 0, expected an object'],
    [{ data: [], meta: { hasMore: 'no' } }, 'meta.hasMore: found a string, expected true or false'],
    [{ data: [], meta: { nextCursor: 7 } }, 'meta.nextCursor: found a number, expected a text'],
    ['null', 'the answer: found null, expected a list, or {data, meta}'],
    ['7', 'the answer: found a number, expected a list, or {data, meta}'],
    [[item('a'), null], 'items[1]: found null, expected a resource with a metadata.name'],
    [[{ name: 'a' }], 'items[0]: found an object with "name", expected a resource with a metadata.name'],
    [
      { data: [{ metadata: { name: '' } }], meta: {} },
      'data[0]: found an object with "metadata", expected a resource with a metadata.name',
    ],
  ])('%j', async (body, said) => {
    expect(await failure(answer(body), 'function')).toEqual(
      new RefusedAnswerError(`${about}, functions, page 1: ${said}`),
    );
  });

  test('values are never shown: specs contain secrets', async () => {
    const error = await failure(answer([{ spec: { token: 'sk-1' }, metadata: 'sk-2' }]));
    expect(error.message).not.toContain('sk-');
  });

  test('more pages without a cursor', async () => {
    const error = await failure(answer({ data: [item('a')], meta: { hasMore: true, nextCursor: '' } }), 'policy');
    expect(error).toEqual(
      new RefusedAnswerError(`${about}, policies, page 1: meta.hasMore is true but meta.nextCursor is empty`),
    );
  });
});

describe('a cursor that the platform refuses', () => {
  const refused = refuse(400, 'invalid_cursor', 'older than 24 hours');

  test.each([400, 404, 410, 422])('with %i restarts the listing', async (status) => {
    const server = await startServer(
      inTurn(page(['a'], 'c1', 2), refuse(status, 'cursor', 'gone'), page(['a'], 'c2', 2), page(['b'], '', 2)),
    );
    const { names, logged } = await read(server.url);
    expect(names).toEqual(['a', 'b']);
    expect(server.seen.map(({ query }) => query.get('cursor'))).toEqual([null, 'c1', null, 'c2']);
    expect(logged.map(({ event }) => event)).toEqual(['listing.restarted']);
  });

  test('restarts it three times at most', async () => {
    const server = await startServer((response, request) => {
      (request.query.has('cursor') ? refused : page(['a'], `c${server.seen.length}`, 2))(response, request);
    });
    const error = await rejection(read(server.url));
    expect(error).toBeInstanceOf(PlatformError);
    expect((error as Error).message).toContain('(agents, page 2)');
    expect(server.seen).toHaveLength(8);
  });
});

describe('an unknown API version (9.4)', () => {
  const unknown = (named: string) => refuse(400, 'invalid_api_version', named);
  const bare = answer([item('a')]);

  test('is replaced once by one that the refusal names, for all further listings, with a warning', async () => {
    const server = await startServer((response, request) => {
      const reply =
        version(request) === '2026-04-16' ? bare : unknown('Unknown API version 2026-04-28. Valid: 2026-04-16.');
      reply(response, request);
    });
    const effects = testEffects();
    const reader = openListings(testClient(server.url, { effects }), effects.log);
    for (const kind of ['sandbox', 'agent'] as const) {
      for await (const { apiVersion } of reader.pages(listing(kind), about, never())) {
        expect(apiVersion).toBe('2026-04-16');
      }
    }
    // Before there were pages, nothing is said of pages.
    expect(server.seen.map((request) => `${version(request)} ${request.url}`)).toEqual([
      '2026-04-28 /v0/sandboxes?limit=200&sort=createdAt:asc&showTerminated=true',
      '2026-04-16 /v0/sandboxes?showTerminated=true',
      '2026-04-16 /v0/agents',
    ]);
    expect(effects.logged).toEqual([
      {
        event: 'listing.version_changed',
        fields: { about: `${about}, sandboxes`, refused: '2026-04-28', askedNow: '2026-04-16' },
      },
    ]);
  });

  test.each([
    ['the nearest with pages', 'valid: 2026-04-16, 2026-09-01, 2026-05-10', '2026-05-10'],
    ['the latest without pages, if none has them', 'valid: 2026-04-16, 2026-02-01', '2026-04-16'],
    ['no preview, if another version is named', 'valid: 2026-04-16, 2026-06-01.preview', '2026-04-16'],
    ['a preview, if only previews are named', 'valid: 2026-06-01.preview, 2026-07-01.preview', '2026-06-01.preview'],
    ['none but versions', 'since 2026-01-01T00:00:00Z only "2026-04-16" is valid', '2026-04-16'],
  ])('of several versions named: %s', async (_, named, expected) => {
    const server = await startServer(inTurn(unknown(`unknown version "2026-04-28"; ${named}`), bare));
    expect((await read(server.url)).pages[0]?.apiVersion).toBe(expected);
    expect(server.seen.map(version)).toEqual(['2026-04-28', expected]);
  });

  test.each([
    ['names no other', 'unknown version 2026-04-28', 1],
    ['is followed by another such refusal', 'unknown version; valid: 2026-04-16, 2026-06-01', 2],
  ])('that %s is reported with what to do', async (_, said, calls) => {
    const server = await startServer(unknown(said));
    const error = await rejection(read(server.url));
    expect(error).toBeInstanceOf(PlatformError);
    expect((error as Error).message).toContain('Set apiVersion (COSTBOOK_API_VERSION)');
    expect(server.seen).toHaveLength(calls);
  });
});

describe('a refused listing names its kind', () => {
  test.each([
    [
      403,
      /^account acc_one: jobs API of \S+ answered 403: no permission \(jobs, page 1\)\. Ask an account admin for a token that may read the batch jobs of its workspaces/,
    ],
    [404, /^account acc_one: jobs API of \S+ answered 404: no permission \(jobs, page 1\)\. Check the URL\.$/],
  ])('%i', async (status, message) => {
    expect(await failure(refuse(status, 'no permission', 'no permission'), 'job')).toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
  });
});

test('a platform that refuses the workspace in the query is asked for single items by header alone, too', async () => {
  const volume = item('cache');
  const server = await startServer((response, request) => {
    const isSingle = request.url.includes('cache');
    const reply = request.query.has('workspace')
      ? refuse(400, 'bad', 'no such parameter')
      : answer(isSingle ? volume : [volume]);
    reply(response, request);
  });
  const effects = testEffects();
  const reader = openListings(testClient(server.url, { effects }), effects.log);
  for await (const _ of reader.pages(listing('volume'), about, never(), 'production'));
  expect(await reader.detail(listing('volume'), 'cache', about, never(), 'production')).toEqual(volume);
});
