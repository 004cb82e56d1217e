import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlatformError, RefusedAnswerError } from '../../src/base/errors.ts';
import type { DecodedPage } from '../../src/fetch/decode.ts';
import { type LandingFolder, openLandingWriter } from '../../src/fetch/landing-writer.ts';
import { detailQuery } from '../../src/fetch/plan/queries.ts';
import { askQuery } from '../../src/fetch/query-pages.ts';
import { CursorRefusedError, type Page, pages } from '../../src/platform/paging.ts';
import { never, rejection, type TestEffects, testClient, testEffects } from '../support/http-client.ts';
import { bodyOf, group, windowOf } from '../support/http-metrics.ts';
import { answer, gzipped, inTurn, type Reply, refuse, startServer } from '../support/http-server.ts';

const place = 'account acc_one, window 2026-10-01T00:00:00Z/2026-10-01T02:00:00Z';
const about = `${place}, detail`;

describe('pages', () => {
  /** Pages by the cursors that lead to the next; '' ends the chain. */
  async function follow(nextCursors: readonly (string | undefined)[]): Promise<(string | undefined)[]> {
    const sent: (string | undefined)[] = [];
    const ask = async (page: number, cursor: string | undefined): Promise<Page> => {
      sent.push(cursor);
      const nextCursor = nextCursors[page - 1];
      return {
        hasMore: nextCursor !== '',
        nextCursor: nextCursor === '' ? undefined : nextCursor,
        keys: [String(page)],
      };
    };
    for await (const _ of pages(about, 1000, ask));
    return sent;
  }

  test('are fetched with the cursor of the page before, until the last one', async () => {
    expect(await follow(['a', 'b', ''])).toEqual([undefined, 'a', 'b']);
    expect(await follow([''])).toEqual([undefined]);
  });

  test('a cursor on the last page is not followed', async () => {
    let asked = 0;
    const ask = async (): Promise<Page> => {
      asked += 1;
      return { hasMore: false, nextCursor: 'more', keys: ['a'] };
    };
    for await (const _ of pages(about, 1000, ask));
    expect(asked).toBe(1);
  });

  test('a repeated cursor is refused with its page', async () => {
    const circle = new RefusedAnswerError(
      `${about}, page 3: meta.nextCursor is a repeated cursor; the pages form a loop`,
    );
    expect(await rejection(follow(['a', 'b', 'a', 'b']))).toEqual(circle);
    expect(await rejection(follow(['a', 'b', 'b']))).toEqual(circle);
  });

  test('a cursor too long for a URL is refused, and is not in the message', async () => {
    expect(await follow(['c'.repeat(8192), ''])).toHaveLength(2);
    expect(await rejection(follow(['a', 'c'.repeat(10_000_000), '']))).toEqual(
      new RefusedAnswerError(
        `${place}, detail, page 2: meta.nextCursor has 10000000 characters, expected at most 8192`,
      ),
    );
  });

  /** Follows cursors that are always new, with these keys on each page; gives the pages asked and the refusal. */
  async function endless(maxPages: number, keysOf: (page: number) => readonly string[]) {
    let asked = 0;
    const ask = async (page: number): Promise<Page> => {
      asked = page;
      if (page > 2 * maxPages) throw new Error('asked without end');
      return { hasMore: true, nextCursor: String(page), keys: keysOf(page) };
    };
    const run = async () => {
      for await (const _ of pages(about, maxPages, ask));
    };
    return { error: await rejection(run()), asked };
  }

  test('an endless chain of new cursors and entries ends at the maximum number of pages', async () => {
    const { error, asked } = await endless(1000, (page) => [`group ${page}`]);
    expect(error).toEqual(new RefusedAnswerError(`${place}, detail: found more than 1000 pages, expected fewer`));
    expect(asked).toBe(1000);
  });

  test('a chain of new cursors that repeats entries is refused on that page', async () => {
    const { error, asked } = await endless(1000, (page) => [`group ${page % 3}`, 'another']);
    expect(error).toEqual(
      new RefusedAnswerError(
        `${place}, detail, page 4: the same 2 entries came before under another cursor; the pages form a loop`,
      ),
    );
    expect(asked).toBe(4);
  });

  test('a limited number of empty pages is followed', async () => {
    const { error, asked } = await endless(1000, (page) => (page % 20 === 0 ? [`group ${page}`] : []));
    expect([error, asked]).toEqual([expect.objectContaining({ message: expect.stringContaining('1000 pages') }), 1000]);
    const empty = await endless(1000, () => []);
    expect(empty.error).toEqual(
      new RefusedAnswerError(`${place}, detail, page 21: found 21 empty pages in a row, expected fewer`),
    );
    expect(empty.asked).toBe(21);
  });

  test('hasMore without a cursor is refused', async () => {
    const error = await rejection(follow(['a', undefined]));
    expect(error).toEqual(
      new RefusedAnswerError(`${place}, detail, page 2: meta.hasMore is true but meta.nextCursor is empty`),
    );
  });

  test('the pages before an error are returned', async () => {
    const handed: number[] = [];
    const chain = pages(about, 1000, async (number) => ({ hasMore: true, nextCursor: undefined, keys: [], number }));
    const run = async () => {
      for await (const page of chain) handed.push(page.number);
    };
    expect(await rejection(run())).toBeInstanceOf(RefusedAnswerError);
    expect(handed).toEqual([1]);
  });

  /** What a chain is rejected with whose given page is answered with an error. */
  function refusedAt(page: number, error: Error): Promise<unknown> {
    return rejection(
      (async () => {
        const ask = async (number: number): Promise<Page> => {
          if (number === page) throw error;
          return { hasMore: true, nextCursor: `c${number}`, keys: [String(number)] };
        };
        for await (const _ of pages(about, 1000, ask));
      })(),
    );
  }

  test.each([400, 404, 410, 422])('a %i to a request with a cursor is a refused cursor', async (status) => {
    const said = new PlatformError('what it said', { status, code: 'bad_cursor' });
    const error = await refusedAt(2, said);
    expect(error).toBeInstanceOf(CursorRefusedError);
    expect(error).toMatchObject({ message: 'what it said', status, code: 'bad_cursor', cause: said });
  });

  test.each([401, 403, 429, 500, 503, undefined])('a status of %s with a cursor is not', async (status) => {
    const said = new PlatformError('what it said', { status });
    expect(await refusedAt(2, said)).toBe(said);
  });

  test('a 400 to the first page, which has no cursor, is not', async () => {
    const said = new PlatformError('what it said', { status: 400 });
    expect(await refusedAt(1, said)).toBe(said);
  });

  test('a bug is thrown unchanged', async () => {
    const bug = new TypeError('x is undefined');
    expect(await refusedAt(2, bug)).toBe(bug);
  });
});

describe('askQuery', () => {
  const query = detailQuery(windowOf(2));
  let root = '';
  let landing: LandingFolder;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'costbook-paging-'));
    landing = await openLandingWriter(root).begin('acc_one', query.window, 0);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** A page with one group, named, that leads to a cursor ('' for none). */
  function page(name: string, nextCursor: string): Reply {
    return answer(onePage(name, nextCursor));
  }
  function onePage(name: string, nextCursor: string): object {
    const groups = [
      group(
        [
          [0.5, 2],
          [0, 0],
        ],
        { resourceName: name },
      ),
    ];
    return bodyOf(2, groups, { meta: { hasMore: nextCursor !== '', nextCursor } });
  }

  interface Told {
    /** `page a`, `restart`, in order. */
    readonly events: string[];
    readonly effects: TestEffects;
    readonly cursors: () => (string | null)[];
    readonly result: Promise<number>;
  }
  async function askFor(reply: Reply): Promise<Told> {
    const server = await startServer(reply);
    const effects = testEffects();
    const events: string[] = [];
    const result = askQuery({
      account: 'acc_one',
      query,
      client: testClient(server.url, { effects }),
      landing,
      sink: {
        page: (decoded: DecodedPage) => void events.push(`page ${decoded.entries[0]?.resourceName}`),
        restart: () => void events.push('restart'),
      },
      log: effects.log,
      signal: never(),
    });
    result.catch(() => undefined);
    return { events, effects, result, cursors: () => server.seen.map((seen) => seen.query.get('cursor')) };
  }

  test('passes on and stores every page in order', async () => {
    const told = await askFor(inTurn(page('a', 'c1'), gzipped(onePage('b', 'c2')), page('c', '')));
    expect(await told.result).toBe(3);
    expect(told.events).toEqual(['page a', 'page b', 'page c']);
    expect(told.cursors()).toEqual([null, 'c1', 'c2']);
    expect(readdirSync(landing.path).sort()).toEqual(['detail-0001.json', 'detail-0002.json.gz', 'detail-0003.json']);
    expect(JSON.parse(readFileSync(join(landing.path, 'detail-0003.json'), 'utf8'))).toEqual(onePage('c', ''));
  });

  test('sends the same parameters with every page', async () => {
    const server = await startServer(inTurn(page('a', 'c&1 '), page('b', '')));
    const effects = testEffects();
    const sink = { page: () => undefined, restart: () => undefined };
    const client = testClient(server.url, { effects });
    await askQuery({ account: 'acc_one', query, client, landing, sink, log: effects.log, signal: never() });
    const sent = server.seen.map((seen) => Object.fromEntries(seen.query));
    const parameters = {
      startTime: '2026-10-01T00:00:00Z',
      endTime: '2026-10-01T02:00:00Z',
      resolution: 'hourly',
      groupBy: 'resource_name,resource_uuid,billing_dimension',
      limit: '100',
    };
    expect(sent).toEqual([parameters, { ...parameters, cursor: 'c&1 ' }]);
  });

  test('restarts if a cursor is refused, and discards the pages so far', async () => {
    const told = await askFor(
      inTurn(page('a', 'c1'), page('b', 'c2'), refuse(410, 'cursor_expired', 'too old'), page('whole', '')),
    );
    expect(await told.result).toBe(1);
    expect(told.events).toEqual(['page a', 'page b', 'restart', 'page whole']);
    expect(told.cursors()).toEqual([null, 'c1', 'c2', null]);
    expect(readdirSync(landing.path)).toEqual(['detail-0001.json']);
    expect(JSON.parse(readFileSync(join(landing.path, 'detail-0001.json'), 'utf8'))).toEqual(onePage('whole', ''));
    expect(told.effects.logged).toMatchObject([{ event: 'query.restarted', fields: { about } }]);
  });

  test('discards stored pages before it notifies the sink', async () => {
    const server = await startServer(inTurn(page('a', 'c1'), refuse(400, 'bad_cursor', 'no'), page('b', '')));
    const effects = testEffects();
    let storedAtRestart: string[] | undefined;
    const sink = {
      page: () => undefined,
      restart: () => {
        storedAtRestart = readdirSync(landing.path);
      },
    };
    const client = testClient(server.url, { effects });
    await askQuery({ account: 'acc_one', query, client, landing, sink, log: effects.log, signal: never() });
    expect(storedAtRestart).toEqual([]);
  });

  test('restarts three times at most', async () => {
    const told = await askFor((response, request) => {
      const reply = request.query.has('cursor') ? refuse(400, 'bad_cursor', 'no such cursor') : page('a', 'c1');
      reply(response, request);
    });
    const error = await rejection(told.result);
    expect(error).toBeInstanceOf(CursorRefusedError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /answered 400: bad_cursor: no such cursor \(.*page 2\)\. The next run, within a day, loads/,
      ),
    });
    expect(told.events.filter((event) => event === 'restart')).toHaveLength(3);
    expect(told.cursors()).toHaveLength(8);
  });

  test('does not restart if the first page is refused', async () => {
    const told = await askFor(refuse(400, 'invalid_request', 'no'));
    expect(await rejection(told.result)).toMatchObject({ status: 400 });
    expect(told.events).toEqual([]);
    expect(told.cursors()).toHaveLength(1);
  });

  test('stores a refused page, but does not pass it on', async () => {
    const wrong = bodyOf(2, [], { resolution: 'daily' });
    const told = await askFor(inTurn(page('a', 'c1'), answer(wrong)));
    expect(await rejection(told.result)).toEqual(
      new RefusedAnswerError('detail, page 2: resolution: found "daily", expected "hourly"', { place }),
    );
    expect(told.events).toEqual(['page a']);
    expect(JSON.parse(readFileSync(join(landing.path, 'detail-0002.json'), 'utf8'))).toEqual(wrong);
  });

  test('refuses a loop of cursors, naming account, window and page', async () => {
    const told = await askFor(inTurn(page('a', 'c1'), page('b', 'c1')));
    expect(await rejection(told.result)).toEqual(
      new RefusedAnswerError('detail, page 2: meta.nextCursor is a repeated cursor; the pages form a loop', { place }),
    );
  });

  test('passes on a page once that was truncated at first', async () => {
    const told = await askFor(inTurn(gzipped(onePage('a', ''), 40), gzipped(onePage('a', ''))));
    expect(await told.result).toBe(1);
    expect(told.events).toEqual(['page a']);
    expect(existsSync(join(landing.path, 'detail-0001.json.gz'))).toBe(true);
  });

  test('stores a page once that was an HTML page at first and gzipped later', async () => {
    const told = await askFor(inTurn(answer('<html>Welcome</html>'), gzipped(onePage('a', ''))));
    expect(await told.result).toBe(1);
    expect(readdirSync(landing.path)).toEqual(['detail-0001.json.gz']);
  });
});
