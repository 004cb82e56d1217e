import { describe, expect, test } from 'vitest';
import { RefusedAnswerError } from '../../src/errors.ts';
import { accountIds, discoverAccounts, discoverHistoryStart, historyParameters } from '../../src/platform/index.ts';
import { never, rejection, testClient } from '../support/http-client.ts';
import { answer, refuse, startServer } from '../support/http-server.ts';

describe('accountIds', () => {
  test.each<[string, unknown, string[]]>([
    ['a list of texts', ['a', 'b'], ['a', 'b']],
    ['a list of objects with id', [{ id: 'a' }, { id: 'b' }], ['a', 'b']],
    ['a list of objects with accountId', [{ accountId: 'a' }], ['a']],
    ['a list of objects with account_id', [{ account_id: 'a' }], ['a']],
    ['a list of objects with uuid', [{ uuid: 'a' }], ['a']],
    ['a list of objects with a name only', [{ name: 'a' }], ['a']],
    ['an id before a name', [{ name: 'Acme', id: 'a' }], ['a']],
    ['ids in numbers', [{ id: 17 }], ['17']],
    ['ids in metadata', [{ metadata: { id: 'a', displayName: 'Acme' }, spec: {} }], ['a']],
    ['names in metadata', [{ metadata: { name: 'a' } }], ['a']],
    ['a paged envelope', { data: [{ id: 'a' }], meta: { hasMore: false, nextCursor: '' } }, ['a']],
    ['an envelope of another name', { accounts: [{ id: 'a' }, { id: 'b' }] }, ['a', 'b']],
    ['an envelope with an empty list before', { warnings: [], accounts: ['a'] }, ['a']],
    ['one account alone', { id: 'a', displayName: 'Acme' }, ['a']],
    ['the same account twice', ['a', { id: 'a' }, 'b'], ['a', 'b']],
    ['items of which some are no account', ['a', null, 5, {}, { id: '' }, [], ''], ['a']],
  ])('%s', (_, value, ids) => {
    expect(accountIds(value)).toEqual(ids);
  });

  test('a list in an envelope within an envelope', () => {
    expect(accountIds({ data: { accounts: [{ id: 'a' }] } })).toEqual(['a']);
  });

  test.each([[[]], [{}], [{ data: [] }], [null], [undefined], ['a'], [5], [true], [{ error: 'no', code: 400 }]])(
    'nothing recognisable in %j gives no account',
    (value) => {
      expect(accountIds(value)).toEqual([]);
    },
  );
});

describe('discoverAccounts', () => {
  test('asks for the accounts that the token can see', async () => {
    const server = await startServer(answer({ data: [{ id: 'acc_one' }, { id: 'acc_two' }] }));
    expect(await discoverAccounts(testClient(server.url), never())).toEqual(['acc_one', 'acc_two']);
    expect(server.seen.map(({ url }) => url)).toEqual(['/v0/accounts']);
  });

  test('a refusal says what was asked', async () => {
    const server = await startServer(refuse(403, 'forbidden', 'Access denied'));
    expect(await rejection(discoverAccounts(testClient(server.url), never()))).toMatchObject({
      message: expect.stringContaining(
        'accounts API answered 403: forbidden: Access denied (which accounts the token can see).',
      ),
    });
  });
});

describe('discoverHistoryStart', () => {
  const until = Date.UTC(2026, 9, 21, 3);

  /** An ungrouped answer by month; usage is not there, as billing_dimension is not grouped by (2.15). */
  function months(...costs: (readonly [timestamp: string, cost: number])[]): object {
    return {
      startTime: '2016-10-01T00:00:00Z',
      endTime: '2026-10-21T03:00:00Z',
      resolution: 'monthly',
      summary: { totalCost: 0 },
      data: [{ summary: { cost: 0 }, timeseries: costs.map(([timestamp, cost]) => ({ timestamp, cost })) }],
      meta: { hasMore: false, nextCursor: '' },
    };
  }
  async function discover(body: unknown): Promise<number | undefined> {
    const server = await startServer(answer(body));
    return discoverHistoryStart(testClient(server.url), 'acc_one', until, never());
  }

  test('asks once, by month, for ten years, without grouping', async () => {
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

  test('is the first month with any cost, in whichever order the months come', async () => {
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

  test('a bucket that begins within a month counts for that month', async () => {
    expect(await discover(months(['2026-03-08T10:00:00Z', 1]))).toBe(Date.UTC(2026, 2, 1));
  });

  test.each<[string, unknown]>([
    ['months without cost', months(['2026-03-01T00:00:00Z', 0])],
    ['no months', months()],
    ['no data', { data: [] }],
    ['data that is null', { data: null }],
    ['data left out', {}],
  ])('%s: there is no history', async (_, body) => {
    expect(await discover(body)).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['a list', []],
    ['a text as cost', { data: [{ timeseries: [{ timestamp: '2026-03-01T00:00:00Z', cost: '5' }] }] }],
    ['no timeseries', { data: [{ summary: { cost: 5 } }] }],
  ])('%s is refused, naming the account', async (_, body) => {
    const error = await rejection(discover(body));
    expect(error).toBeInstanceOf(RefusedAnswerError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^account acc_one, the first month with any cost: the answer is no metrics response: ./,
      ),
    });
  });
});
