import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLookup } from '../../src/allocation/lookup.ts';
import { loadBudgets } from '../../src/budgets/rules/file.ts';
import { readRates } from '../../src/currency/rates-file.ts';
import { readSeriesFile } from '../../src/forecast/read-series.ts';
import { csvRecords } from '../../src/tables/csv-records.ts';
import { gatherProblems } from '../../src/yaml/yaml.ts';
import { newProject } from '../support/project.ts';

/** What each file of CSV is read as; each is a plain file of commas, with a header. */
const inputs: Readonly<Record<string, { plain: string; read: (text: string) => Promise<unknown> }>> = {
  rates: {
    plain: 'date,rate\n2026-09-30,0.9011\n2026-10-30,0.922\n',
    read: async (text) => {
      const dir = await newProject();
      writeFileSync(join(dir, 'RATES.CSV'), text);
      return readRates({ code: 'EUR', rates: 'RATES.CSV', source: 'ECB' }, dir);
    },
  },
  'the table of finance': {
    plain: 'budget,period,amount,owner.Team,parent\nall,2026-10,120,,\nads,2026-10,40,Ads,all\n',
    read: (text) => budgets(['table: FINANCE.CSV'], 'FINANCE.CSV', text),
  },
  counts: {
    plain: 'date,count\n2026-11-01,1250\n2026-11-02,0\n',
    read: (text) =>
      budgets(
        ['budgets: [{ name: a, period: monthly, amount: 2 USD, per: { name: order, counts: orders.Csv } }]'],
        'orders.Csv',
        text,
      ),
  },
  'a lookup table': {
    plain: 'label:Cost Center,team,product\n17,Ads,\n18,Search,Web\n',
    read: async (text) => {
      const file = join(await newProject(), 'owners.CSV');
      writeFileSync(file, text);
      const problems = gatherProblems();
      const lookup = readLookup(file, ['team', 'product'], problems);
      problems.throwIfAny();
      return lookup;
    },
  },
  series: {
    plain: 'id,timestamp,value\na,2026-01-01,1\na,2026-01-02,\na,2026-01-03,3\n',
    read: async (text) => {
      const file = join(await newProject(), 'series.CSV');
      writeFileSync(file, text);
      return readSeriesFile(file, new AbortController().signal);
    },
  },
};

const folder = newProject();

async function budgets(lines: readonly string[], name: string, text: string): Promise<unknown> {
  // One folder for all: budgets name the files that they are read from.
  const dir = join(await folder, 'jobs');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), text);
  writeFileSync(join(dir, 'budgets.yaml'), lines.join('\n'));
  const read = loadBudgets(join(dir, 'budgets.yaml'), { now: Date.parse('2026-11-05T00:00:00Z'), sinks: undefined });
  // Places are lines of the file, which empty rows move.
  return JSON.parse(
    JSON.stringify(read, (key, value) =>
      key === 'where' ? undefined : typeof value === 'bigint' ? String(value) : (value as unknown),
    ),
  );
}

/** The lines of a plain file, and how a spreadsheet may write them. */
const dressed: Readonly<Record<string, (lines: readonly string[]) => string>> = {
  'empty rows': ([head = '', ...lines]) => {
    const empty = head.replace(/[^,]/g, '');
    return [head, empty, ...lines, ` ${empty}`, '', empty, empty].join('\r\n');
  },
  'empty columns': (lines) => lines.map((line) => `${line},,`).join('\r\n'),
  'empty rows before the header': (lines) => ['', ',,', ...lines].join('\n'),
  'the line sep=,': (lines) => ['sep=,', ...lines].join('\r\n'),
  'sep=, behind a byte order mark, and empty cells': (lines) =>
    ['\uFEFFsep=,', ...lines.map((line) => `${line},`), ',,,,,,'].join('\r\n'),
  'capitals in the header': ([head = '', ...lines]) =>
    [head.replace(/(^|,)(\w)/g, (_, comma, letter: string) => `${comma}${letter.toUpperCase()}`), ...lines].join('\n'),
  'quotes around empty cells': (lines) => lines.map((line) => `${line},"",`).join('\n'),
};

describe('spreadsheets', () => {
  const cases = Object.entries(inputs).flatMap(([what, input]) =>
    Object.entries(dressed).map(([how, dress]) => ({ what, how, input, dress })),
  );
  test.each(cases)('$what with $how are read as without', async ({ input, dress }) => {
    const lines = input.plain.trimEnd().split('\n');
    const plain = await input.read(input.plain);
    expect(plain).toBeTruthy();
    expect(await input.read(dress(lines))).toEqual(plain);
  });

  test('a column without a name that has a cell is a mistake', async () => {
    await expect(inputs['rates']?.read('date,rate,\n2026-09-30,0.9,x\n')).rejects.toThrow('found the column ""');
    await expect(inputs['series']?.read('id,timestamp,value,\na,2026-01-01,1,x\n')).rejects.toThrow(
      'found 4 fields, expected 3',
    );
  });

  test('another separator is named', () => {
    const told: string[] = [];
    expect(csvRecords('sep=;\ndate;rate\n', (line, words) => told.push(`${line}: ${words}`))).toBeUndefined();
    expect(told).toEqual(['1: found sep=;, expected cells separated by commas; save the file with commas']);
  });

  test('a row that is empty but for one cell is none of these', () => {
    expect(csvRecords('a,b\n,\n,2\n', () => undefined)).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['', '2'] },
    ]);
  });
});

test('blank lines are no records, and the lines after them keep their numbers', () => {
  const records = csvRecords(`date,rate\n${'\n'.repeat(200_000)}2026-01-01,1\n`, () => undefined);
  expect(records?.map(({ line }) => line)).toEqual([1, 200_002]);
});

test('more cells than a list has are a mistake, and need no memory', () => {
  const told: string[] = [];
  expect(csvRecords(`date,count\n${'1,\n'.repeat(1_100_000)}`, (line, words) => told.push(`${line}: ${words}`))).toBe(
    undefined,
  );
  expect(told).toEqual(['1000001: found more than 2000000 cells, expected a list; remove what is not needed']);
});
