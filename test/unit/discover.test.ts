import { describe, expect, test } from 'vitest';
import { RefusedAnswerError, UsageError } from '../../src/base/errors.ts';
import { accountIds, discoverAccounts, discoverHistoryStart, historyParameters } from '../../src/platform/discover.ts';
import { never, rejection, testClient } from '../support/http-client.ts';
import { answer, inTurn, refuse, startServer } from '../support/http-server.ts';

describe('accountIds', () => {
  test.each<[string, unknown, string[]]>([
    ['a list of texts', ['a', 'b'], ['a', 'b']],
    ['a list of objects with id', [{ id: 'a' }, { id: 'b' }], ['a', 'b']],
    ['a list of objects with accountId', [{ accountId: 'a' }], ['a']],
    ['a list of objects with account_id', [{ account_id: 'a' }], ['a']],
    ['a list of objects with uuid', [{ uuid: 'a' }], ['a']],
    ['a list of objects with a name only', [{ name: 'a' }], ['a']],
    ['an id before a name', [{ name: 'Acme', id: 'a' }], ['a']],
    ['numeric ids', [{ id: 17 }], ['17']],
    ['ids in metadata', [{ metadata: { id: 'a', displayName: 'Acme' }, spec: {} }], ['a']],
    ['names in metadata', [{ metadata: { name: 'a' } }], ['a']],
    ['a paged envelope', { data: [{ id: 'a' }], meta: { hasMore: false, nextCursor: '' } }, ['a']],
    ['an envelope of another name', { accounts: [{ id: 'a' }, { id: 'b' }] }, ['a', 'b']],
    ['an envelope with an empty list before', { warnings: [], accounts: ['a'] }, ['a']],
    ['accounts next to warnings', { warnings: ['beta'], accounts: [{ id: 'a' }] }, ['a']],
    ['objects before texts', { regions: ['eu'], tenants: [{ id: 'a' }] }, ['a']],
    ["a user's accounts", { id: 'usr_1', accounts: [{ id: 'a' }, { id: 'b' }] }, ['a', 'b']],
    ['a user without accounts', { id: 'usr_1', accounts: [] }, []],
    ['an account with lists of other things in it', { id: 'acc_1', workspaces: ['a', 'b'] }, ['acc_1']],
    ['an account with objects in it', { workspaces: [{ id: 'ws_1' }], id: 'acc_1', data: [{ id: 'x' }] }, ['acc_1']],
    ['an account in an envelope', { data: { id: 'acc_1', workspaces: ['a'] }, meta: {} }, ['acc_1']],
    ['an account with its id in metadata', { metadata: { id: 'acc_1' }, members: ['m'] }, ['acc_1']],
    ['a name with a list of accounts', { name: 'all', items: [{ id: 'a' }] }, ['a']],
    ['only a name', { name: 'a' }, ['a']],
    ['a number whose digits are lost', [{ id: 12345678901234567000, name: 'a' }], ['a']],
    ['a single account', { id: 'a', displayName: 'Acme' }, ['a']],
    ['the same account twice', ['a', { id: 'a' }, 'b'], ['a', 'b']],
    ['an empty list next to texts', { data: [], warnings: ['beta'] }, []],
    ['items that are not all accounts', ['a', null, 5, {}, { id: '' }, [], ''], ['a']],
  ])('%s', (_, value, ids) => {
    expect(accountIds(value)).toEqual(ids);
  });

  test('endless nesting is not a list of accounts', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}"x"${'}'.repeat(50_000)}`);
    const metadata = JSON.parse(`[${'{"metadata":'.repeat(50_000)}1${'}'.repeat(50_000)}]`);
    expect([accountIds(deep), accountIds(metadata)]).toEqual([[], []]);
  });

  test('a list in an envelope within an envelope', () => {
    expect(accountIds({ data: { accounts: [{ id: 'a' }] } })).toEqual(['a']);
  });

  test.each([[[]], [{}], [{ data: [] }], [null], [undefined], ['a'], [5], [true], [{ error: 'no', code: 400 }]])(
    '%j contains no account',
    (value) => {
      expect(accountIds(value)).toEqual([]);
    },
  );
});

describe('discoverAccounts', () => {
  test('fetches the accounts that the token can access', async () => {
    const server = await startServer(answer({ data: [{ id: 'acc_one' }, { id: 'acc_two' }] }));
    expect(await discoverAccounts(testClient(server.url), never())).toEqual(['acc_one', 'acc_two']);
    expect(server.seen.map(({ url }) => url)).toEqual(['/v0/accounts']);
  });

  test.each([
    ['.', 'a step in a path'],
    ['..', 'a step in a path'],
    ['a\u0007b', 'a control character'],
    ['x'.repeat(201), '201 characters, more than 200'],
  ])('the ID %j is refused, because it becomes a part of a path', async (id, fault) => {
    const server = await startServer(answer([{ id: 'acc_one' }, { id }]));
    const error = await rejection(discoverAccounts(testClient(server.url), never()));
    expect(error).toBeInstanceOf(RefusedAnswerError);
    expect(error).toMatchObject({
      message: expect.stringContaining(`which is ${fault}, expected an account ID. Set COSTBOOK_ACCOUNT`),
    });
  });

  test('the first of several pages is not mistaken for all of them', async () => {
    const server = await startServer(answer({ data: [{ id: 'acc_one' }], meta: { hasMore: true, nextCursor: 'c' } }));
    const error = await rejection(discoverAccounts(testClient(server.url), never()));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message: expect.stringContaining('Set COSTBOOK_ACCOUNT') });
  });

  test('a refusal says what was requested', async () => {
    const server = await startServer(refuse(403, 'forbidden', 'Access denied'));
    expect(await rejection(discoverAccounts(testClient(server.url), never()))).toMatchObject({
      message: expect.stringMatching(
        /^accounts API of \S+ answered 403: forbidden: Access denied \(which accounts the token can see\)\./,
      ),
    });
  });
});

describe('discoverHistoryStart', () => {
  const until = Date.UTC(2026, 9, 21, 3);

  /** An ungrouped answer by month; usage is not there, as billing_dimension is not grouped by (2.15). */
  function months(...costs: (readonly [timestamp: string, cost: number])[]): object {
    return {
      ...echo,
      data: [{ summary: { cost: 0 }, timeseries: costs.map(([timestamp, cost]) => ({ timestamp, cost })) }],
    };
  }
  const echo = {
    startTime: '2016-10-01T00:00:00Z',
    endTime: '2026-10-21T03:00:00Z',
    resolution: 'monthly',
    summary: { totalCost: 0 },
    meta: { hasMore: false, nextCursor: '' },
  };
  async function discover(body: unknown): Promise<number | undefined> {
    const server = await startServer(answer(body));
    return discoverHistoryStart(testClient(server.url), 'acc_one', until, never());
  }

  test('sends one query by month, over ten years, without grouping', async () => {
    const server = await startServer(answer(months()));
    await discoverHistoryStart(testClient(server.url), 'acc_one', until, never());
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/v0/accounts/acc_one/metrics?startTime=2016-10-01T00:00:00Z&endTime=2026-10-21T03:00:00Z&resolution=monthly',
    ]);
    expect(historyParameters('acc_one', until)).toEqual({
      accountId: 'acc_one',
      startTime: '2016-10-01T00:00:00Z',
      endTime: '2026-10-21T03:00:00Z',
      resolution: 'monthly',
    });
  });

  test('is the first month with any cost, for months in any order', async () => {
    expect(
      await discover(
        months(
          ['2026-09-01T00:00:00Z', 5],
          ['2026-03-01T00:00:00Z', 0],
          ['2026-04-01T00:00:00.000Z', 0.01],
          ['2026-10-01T00:00:00Z', 7],
        ),
      ),
    ).toBe(Date.UTC(2026, 3, 1));
  });

  test('a credit is a cost too', async () => {
    expect(await discover(months(['2026-03-01T00:00:00Z', -1], ['2026-04-01T00:00:00Z', 1]))).toBe(
      Date.UTC(2026, 2, 1),
    );
  });

  test('a bucket that starts within a month counts for that month', async () => {
    expect(await discover(months(['2026-03-08T10:00:00Z', 1]))).toBe(Date.UTC(2026, 2, 1));
  });

  test.each<[string, unknown]>([
    ['months without cost', months(['2026-03-01T00:00:00Z', 0])],
    ['no months', months()],
    ['no data', { ...echo, data: [] }],
    ['data that is null', { ...echo, data: null }],
    ['no data field', echo],
  ])('has no history for %s', async (_, body) => {
    expect(await discover(body)).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['a list', []],
    ['nothing', {}],
    ['no information about more pages', { ...echo, meta: {} }],
    ['a text as cost', { ...echo, data: [{ timeseries: [{ timestamp: '2026-03-01T00:00:00Z', cost: '5' }] }] }],
    ['no timeseries', { ...echo, data: [{ summary: { cost: 5 } }] }],
  ])('%s is refused, naming the account', async (_, body) => {
    const error = await rejection(discover(body));
    expect(error).toBeInstanceOf(RefusedAnswerError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^account acc_one, the first month with any cost: the answer is not a metrics response: ./,
      ),
    });
  });

  test.each<[place: string, found: string, body: object]>([
    ['startTime', '"2016-11-01T00:00:00Z"', { ...echo, startTime: '2016-11-01T00:00:00Z' }],
    ['endTime', '"soon"', { ...echo, endTime: 'soon' }],
    ['resolution', '"daily"', { ...echo, resolution: 'daily' }],
    ['data[0].timeseries[1].timestamp', '"2026-13-01"', months(['2026-03-01T00:00:00Z', 1], ['2026-13-01', 1])],
    ['data[0].timeseries[0].timestamp', '""', months(['', 0])],
    ['data[0].timeseries[0].timestamp', '"1970-01-01T00:00:00Z"', months(['1970-01-01T00:00:00Z', 1])],
    ['data[0].timeseries[0].timestamp', '"2026-10-21T03:00:00Z"', months(['2026-10-21T03:00:00Z', 1])],
  ])('a wrong answer is refused with its place: %s %s', async (place, found, body) => {
    const error = await rejection(discover(body));
    expect(error).toBeInstanceOf(RefusedAnswerError);
    expect(error).toMatchObject({
      message: expect.stringContaining(
        `account acc_one, the first month with any cost: ${place}: found ${found}, expected `,
      ),
    });
  });

  test('a paged answer is read to its end', async () => {
    const page = (cost: readonly [string, number], nextCursor: string) => ({
      ...months(cost),
      meta: { hasMore: nextCursor !== '', nextCursor },
    });
    const server = await startServer(
      inTurn(answer(page(['2026-04-01T00:00:00Z', 1], 'two')), answer(page(['2026-02-01T00:00:00Z', 1], ''))),
    );
    expect(await discoverHistoryStart(testClient(server.url), 'acc_one', until, never())).toBe(Date.UTC(2026, 1, 1));
    expect(server.seen.map(({ query }) => query.get('cursor'))).toEqual([null, 'two']);
  });

  test('any number of points is read', async () => {
    const timeseries = Array.from({ length: 200_000 }, () => ({ timestamp: '2026-04-01T00:00:00Z', cost: 1 }));
    expect(await discover({ ...echo, data: [{ timeseries }] })).toBe(Date.UTC(2026, 3, 1));
  });
});
