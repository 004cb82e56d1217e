import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CompletenessState } from '../../src/reports/formats/completeness.ts';
import {
  type GivenParameter,
  monthsOfRange,
  type ParameterValue,
  parseParameters,
  periodsOf,
  readParameters,
  settleParameters,
  withDaysOfMonths,
} from '../../src/reports/questions/parameters.ts';
import { newProject } from '../support/project.ts';

const now = Date.parse('2026-10-03T12:40:00Z');
const state: CompletenessState = {
  asOf: null,
  closedAt: null,
  completeFrom: '2026-08-15T00:00:00Z',
  completeThrough: '2026-10-03T10:00:00Z',
  settledThrough: '2026-09-30T10:00:00Z',
};

/** The header's parameters and what is wrong with them; the SQL names those that are given. */
function parsed(params: string, sql: string): { parameters: unknown[]; problems: string[] } {
  const problems: string[] = [];
  const text = `--! about: x\n--! params: ${params}\n${sql}\n`;
  return { parameters: parseParameters({ name: 'mine', path: 'mine.sql', header: {}, text }, problems), problems };
}

describe('parseParameters(file, problems)', () => {
  test('reads names, types and defaults, over several lines', () => {
    const { parameters, problems } = parsed(
      'month month = last-complete, workspace text = *,\n--! params: days integer = 30\n--! params: metric file',
      'select $month, $workspace, $days, $metric',
    );
    expect(problems).toEqual([]);
    expect(parameters).toEqual([
      { name: 'month', type: 'month', default: 'last-complete' },
      { name: 'workspace', type: 'text', default: '*' },
      { name: 'days', type: 'integer', default: '30' },
      { name: 'metric', type: 'file', default: undefined },
    ]);
  });

  test('reports every mistake at once, with file, line and column', () => {
    const sql = 'select $a, $b, $c, $d, $month, $from, $e, $f';
    const { problems } = parsed(
      'a, B text, c numbr, d integer = many, month text, from date, e text, e text, f date = 2026-02-30',
      sql,
    );
    expect(problems).toEqual([
      'mine.sql:2:13: found "a", expected "name type" or "name type = default", separated by commas',
      'mine.sql:2:16: "B" is not a valid parameter name; expected lowercase letters, digits and _',
      expect.stringMatching(/^mine\.sql:2:24: "numbr" is not a parameter type; expected month, date, .*boolean, file$/),
      'mine.sql:2:33: the default of "d" is "many", expected an integer, or none',
      'mine.sql:2:51: the parameter "month" has the type text, expected month',
      'mine.sql:2:82: the parameter "e" is declared twice',
      'mine.sql:2:90: the default of "f" is "2026-02-30", expected a date such as 2026-10-01, 2026-10 or -30d (UTC), complete-through or none',
      'mine.sql:3:8: $a is not declared in the header; expected it in "--! params:"',
      'mine.sql:3:12: $b is not declared in the header; expected it in "--! params:"',
      'mine.sql:3:16: $c is not declared in the header; expected it in "--! params:"',
      'mine.sql:2:63: the parameter "from" is declared without "to"; a period needs both',
    ]);
  });

  test('refuses a parameter that only the SQL or only the header has', () => {
    expect(parsed('month month, workspace text = *', 'select 1\nwhere $mnth = 1 and $month is null').problems).toEqual([
      'mine.sql:4:7: $mnth is not declared in the header (did you mean "month"?); expected it in "--! params:"',
      'mine.sql:2:26: the parameter "workspace" is declared, but the SQL does not use $workspace',
    ]);
  });

  test('ignores parameters in comments, texts and quoted names', () => {
    const sql = `select '$a ''$b', "$c", $$ $d $$, $q$ $e $q$, e'\\'$f', x$g -- $h\n/* $i\n$j */ where $month is null`;
    expect(parsed('month month', sql).problems).toEqual([]);
  });

  test('requires another month for month-before', () => {
    expect(parsed('base month = month-before', 'select $base').problems).toEqual([
      'mine.sql:2:13: "month-before" is the month before the parameter "month"; declare "month" as another parameter',
    ]);
    expect(parsed('month month, base month = month-before', 'select $base, $month').problems).toEqual([]);
  });
});

/** The values of parameters that are given as on the command line. */
async function values(
  params: string,
  given: Readonly<Record<string, string>> = {},
  options: { dir?: string; state?: CompletenessState; more?: GivenParameter[] } = {},
): Promise<ParameterValue[]> {
  const problems: string[] = [];
  const sql = `select ${[...params.matchAll(/(\w+) \w+/g)].map(([, name]) => `$${name}`).join()}`;
  const text = `--! about: x\n--! params: ${params}\n${sql}\n`;
  const parameters = parseParameters({ name: 'mine', path: 'mine.sql', header: {}, text }, problems);
  const texts = Object.entries(given).map(([name, value]) => ({ name, text: value, what: `--param ${name}` }));
  const read = await readParameters({ name: 'mine', parameters }, [...texts, ...(options.more ?? [])], {
    now,
    dir: options.dir ?? '/',
    problem: (problem) => problems.push(problem),
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return settleParameters(read, options.state ?? state);
}

async function sqlValue(...args: Parameters<typeof values>): Promise<unknown[]> {
  return (await values(...args)).map((value) => value.sqlValue);
}

describe('readParameters and settleParameters', () => {
  test('bind each type to its SQL value', async () => {
    const params = 'month month, on date, at instant, name text, all text, days integer, floor decimal, net boolean';
    const given = {
      month: '2026-09',
      on: '2026-10',
      at: '2026-10-01T02:00:00+02:00',
      name: '=1+1',
      all: '*',
      days: '-5',
      floor: '0.000000000001',
      net: 'true',
    };
    expect(await sqlValue(params, given)).toEqual([
      '2026-09-01',
      '2026-10-01',
      '2026-10-01T00:00:00Z',
      '=1+1',
      null,
      -5,
      '0.000000000001',
      true,
    ]);
  });

  test('take defaults from the books and from now', async () => {
    const params =
      'month month = last-complete, base month = month-before, from date = -30d, to date = complete-through, at instant = complete-through, workspace text = *, floor decimal = none';
    expect(await sqlValue(params)).toEqual([
      '2026-09-01',
      '2026-08-01',
      '2026-09-03',
      '2026-10-03',
      '2026-10-03T10:00:00Z',
      null,
      null,
    ]);
    expect((await values(params)).every(({ isDefault }) => isDefault)).toBe(true);
    expect(await sqlValue(params, { month: '2026-01', from: '2026-02-01' })).toEqual(
      expect.arrayContaining(['2026-01-01', '2025-12-01', '2026-02-01']),
    );
  });

  test.each([
    ['month month', { month: '2026-13' }, 'expected a month such as 2026-10, last (the last complete one) or none'],
    ['month month', { month: '2026-10-01' }, 'expected a month'],
    ['month month', { month: 'month-before' }, 'expected a month'],
    ['on date', { on: '2026-10-01T05:00:00Z' }, 'expected a date such as'],
    ['on date', { on: 'tomorrow' }, 'expected a date such as'],
    ['days integer', { days: '1.5' }, 'expected an integer'],
    ['days integer', { days: '99999999999999999999' }, 'expected an integer'],
    ['floor decimal', { floor: '1e3' }, 'expected a decimal'],
    ['floor decimal', { floor: '' }, 'expected a decimal'],
    ['floor decimal', { floor: '5.000' }, 'found "5.000", which some read as 5000 and some as 5; write 5000 or 5'],
    ['days integer', { days: '1,000' }, 'found "1,000", which some read as 1000 and some as 1; write 1000 or 1'],
    ['net boolean', { net: 'yes' }, 'expected true, false'],
    ['name text', {}, 'needs --param name=<text>: expected text, or * for all'],
    ['month month', {}, 'needs --month <month>: expected a month'],
  ])('refuse, for %s, the value %j', async (params, given, words) => {
    await expect(values(params, given)).rejects.toThrow(words);
  });

  test('report every mistake at once, with the probable spelling', async () => {
    const given = { month: 'x', workspce: 'north', days: 'many' };
    await expect(values('month month, workspace text = *, days integer = 3', given)).rejects.toThrow(
      [
        '--param workspce: the report mine has no parameter "workspce" (did you mean "workspace"?); expected one of --month <month>, --param workspace=<text>, --param days=<integer>',
        '--param month: "x" is not a valid value for the report mine; expected a month such as 2026-10, last (the last complete one) or none',
        '--param days: "many" is not a valid value for the report mine; expected an integer, or none',
      ].join('\n'),
    );
  });

  test('refuse a parameter that is set twice', async () => {
    const more = [{ name: 'month', text: '2026-09', what: '--month' }];
    await expect(values('month month', { month: '2026-09' }, { more })).rejects.toThrow(
      '--param month and --month set the same parameter: use only one',
    );
  });

  test('refuse a period that ends before it starts', async () => {
    await expect(values('from date, to date', { from: '2026-10-01', to: '2026-10-01' })).rejects.toThrow(
      '--from must be before --to',
    );
  });

  test('report that no month is complete instead of choosing one', async () => {
    const empty = { ...state, completeThrough: null };
    await expect(values('month month = last-complete', {}, { state: empty })).rejects.toThrow(
      'no month is complete in every account: one has no complete hour yet',
    );
    const young = { ...state, completeThrough: '2026-09-02T00:00:00Z', completeFrom: '2026-09-01T00:00:00Z' };
    await expect(values('month month = last-complete', {}, { state: young })).rejects.toThrow(
      'no month is complete in every account yet: the books are complete through 2026-09-02T00:00:00Z',
    );
    await expect(values('on date = complete-through', {}, { state: empty })).rejects.toThrow('nothing is complete');
  });

  test('bind an existing file as its absolute path, and refuse others', async () => {
    const dir = await newProject();
    await writeFile(join(dir, 'users.csv'), 'day,users\n');
    const [value] = await values('metric file', { metric: 'users.csv' }, { dir });
    expect(value).toMatchObject({ sqlValue: join(dir, 'users.csv'), display: 'users.csv' });
    await expect(values('metric file', { metric: 'user.csv' }, { dir })).rejects.toThrow(
      `${join(dir, 'user.csv')} does not exist`,
    );
    await expect(values('metric file', { metric: '.' }, { dir })).rejects.toThrow('is not a file');
    await expect(values('metric file', { metric: '*.csv' }, { dir })).rejects.toThrow('pattern');
  });
});

test('periodsOf returns each month of a report, and the days between two dates', async () => {
  const months = await values('month month, base month', { month: '2026-09', base: '2026-07' });
  expect(periodsOf(months)).toEqual([
    { label: '2026-09', start: Date.parse('2026-09-01'), end: Date.parse('2026-10-01') },
    { label: '2026-07', start: Date.parse('2026-07-01'), end: Date.parse('2026-08-01') },
  ]);
  const days = await values('from date, to instant', { from: '2026-09-05', to: '2026-09-06T05:00:00Z' });
  expect(periodsOf(days)).toEqual([
    {
      label: '2026-09-05T00:00:00Z/2026-09-06T05:00:00Z',
      start: Date.parse('2026-09-05'),
      end: Date.parse('2026-09-06T05:00:00Z'),
    },
  ]);
  expect(periodsOf(await values('name text = *'))).toEqual([]);
});

describe('monthsOfRange(text, what)', () => {
  test('returns every month from the first to the last', () => {
    expect(monthsOfRange('2025-11..2026-02', '--month')).toEqual(['2025-11', '2025-12', '2026-01', '2026-02']);
    expect(monthsOfRange('2026-02..2026-02', '--month')).toEqual(['2026-02']);
    expect(monthsOfRange('2026-02', '--month')).toBeUndefined();
    expect(monthsOfRange('last-complete', '--month')).toBeUndefined();
  });

  test.each([
    ['2026-02..2026-01', 'ends before it starts'],
    ['2026-01..', '"" is not a month'],
    ['2026-01..2026-13', '"2026-13" is not a month'],
    ['1999-01..2026-10', 'more than 120 months'],
  ])('%s is refused', (text, words) => {
    expect(() => monthsOfRange(text, '--month')).toThrow(words);
  });
});

describe('withDaysOfMonths(report, given)', () => {
  const days = { parameters: ['from', 'to'].map((name) => ({ name, type: 'date' as const, default: 'none' })) };
  const month = (text: string): GivenParameter => ({ name: 'month', text, what: '--month' });

  test('turns a month into its days for a report that only takes days', () => {
    const given = (text: string) => withDaysOfMonths(days, [month(text)]).map(({ name, text }) => [name, text]);
    const whole = [
      ['from', '2026-10'],
      ['to', '2026-11'],
    ];
    expect(given('2026-10')).toEqual(whole);
    expect(given('2026-09..2026-10')).toEqual([['from', '2026-09'], whole[1]]);
    for (const last of ['last', 'last-complete']) {
      expect(given(last)).toEqual([
        ['from', last],
        ['to', last],
      ]);
    }
  });

  test('keeps the month for a report that takes months', () => {
    const both = { parameters: [...days.parameters, { name: 'month', type: 'month' as const, default: 'none' }] };
    expect(withDaysOfMonths(both, [month('2026-10')])).toEqual([month('2026-10')]);
  });
});
