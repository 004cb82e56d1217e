import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completenessOf } from '../../src/reports/formats/completeness.ts';
import { readParameters, settleParameters } from '../../src/reports/questions/parameters.ts';
import { refusalWords, unanswerable } from '../../src/reports/questions/unanswerable.ts';
import { completeness } from '../../src/warehouse/ledger/accounts.ts';
import { type Given, givenBooks } from '../support/given-books.ts';
import { builtInReport } from '../support/reported.ts';

const now = Date.parse('2026-10-03T12:00:00Z');
const given: Given = {
  accounts: [{ account: 'acc_one' }, { account: 'acc_two' }],
  covered: [{ window_end: '2026-10-01', claimed_end: '2026-10-01' }],
  costs: [{ cost: '1' }],
  forecasts: [{ budget: 'old' }],
};
const withRules: Given = {
  ...given,
  allocation: 'dimensions: [team, cost_center]\nrules: [{name: all, owner: {team: North, cost_center: c1}}]',
};

type Books = Awaited<ReturnType<typeof givenBooks>>;
let plain: Books;
let ruled: Books;
beforeAll(async () => {
  plain = await givenBooks(given);
  ruled = await givenBooks(withRules);
});
afterAll(() => {
  plain.close();
  ruled.close();
});

/** The sentences that refuse a built-in report with these values of its parameters. */
async function refusals(
  name: string,
  { connection }: Books,
  parameters: Readonly<Record<string, string>>,
  budgets: readonly string[] = [],
): Promise<string[]> {
  const report = await builtInReport(name);
  const month = report.parameters.some((parameter) => parameter.name === 'month') ? { month: '2026-09' } : {};
  const named = Object.entries({ ...month, ...parameters });
  const texts = named.map(([key, text]) => ({ name: key, text, what: `--param ${key}` }));
  const read = await readParameters(report, texts, { now, dir: '/', problem: (text) => expect.unreachable(text) });
  const values = settleParameters(read, await completenessOf(connection));
  const accounts = await completeness(connection);
  const isOfFuture = report.evaluated !== undefined;
  return refusalWords(await unanswerable(connection, report, values, { accounts, now, isOfFuture, budgets }));
}

describe.each(['chargeback', 'chargeback_summary', 'unallocated'])('%s', (name) => {
  test('refuses a dimension of owners that no rule has, and names the nearest', async () => {
    expect(await refusals(name, plain, { dimension: 'tem' })).toEqual([
      'owners have no dimension "tem": did you mean "team"?',
    ]);
    expect(await refusals(name, ruled, { dimension: 'costcentre' })).toEqual([
      'owners have no dimension "costcentre": did you mean "cost_center"?',
    ]);
    expect(await refusals(name, ruled, { dimension: 'product' })).toEqual([
      'owners have no dimension "product": expected one of team, cost_center',
    ]);
  });

  test('accepts the dimensions of the active rules, and all of them together', async () => {
    expect(await refusals(name, plain, { dimension: 'environment' })).toEqual([]);
    expect(await refusals(name, ruled, { dimension: 'cost_center' })).toEqual([]);
    expect(await refusals(name, ruled, { dimension: '*' })).toEqual([]);
    expect(await refusals(name, ruled, {})).toEqual([]);
  });

  test('reports every wrong name of a command at once', async () => {
    expect(await refusals(name, plain, { dimension: 'tem', account: 'acc_on' })).toEqual([
      'the books have no account "acc_on": did you mean "acc_one"?',
      'owners have no dimension "tem": did you mean "team"?',
    ]);
  });
});

test('an account without any cost is accepted', async () => {
  expect(await refusals('cost_by_workspace', plain, { account: 'acc_two' })).toEqual([]);
});

describe.each(['stored_forecasts', 'forecast_accuracy', 'forecast_accuracy_summary'])('%s', (name) => {
  test('refuses a budget that neither the books nor the project has', async () => {
    expect(await refusals(name, plain, { budget: 'everythng' }, ['everything'])).toEqual([
      'there is no budget "everythng": did you mean "everything"?',
    ]);
    expect(await refusals(name, plain, { budget: 'everything' }, ['everything'])).toEqual([]);
    expect(await refusals(name, plain, { budget: 'old' }, ['everything'])).toEqual([]);
  });
});

test('a month after the last hour in the books is refused, unless the books have some hours of it', async () => {
  const later = { month: '2026-10' };
  expect(await refusals('cost_by_workspace', plain, later)).toEqual([
    '2026-10 is not in the books yet: the books start at 2026-09-01T00:00:00Z and are complete through 2026-10-01T00:00:00Z',
  ]);
  const covered = [{ window_end: '2026-10-02', claimed_end: '2026-10-01' }];
  const young = await givenBooks({ ...given, loads: [{}], covered });
  try {
    expect(await refusals('cost_by_workspace', young, later)).toEqual([]);
    expect(await refusals('cost_by_workspace', young, { month: '2026-11' })).toEqual([
      expect.stringMatching(/^2026-11 is in the future: /),
    ]);
  } finally {
    young.close();
  }
});
