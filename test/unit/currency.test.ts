import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { readRates } from '../../src/currency/rates-file.ts';
import {
  areOld,
  converted,
  convertedAmount,
  currencyOf,
  currencyOfMonth,
  rateAtClose,
  rateWords,
  withoutRateWords,
} from '../../src/currency/second-currency.ts';
import { parseInstant } from '../../src/time/time.ts';
import type { ClosedMonth } from '../../src/warehouse/ledger/closes.ts';

function at(text: string): number {
  return parseInstant(text, 'at', 0);
}

const settings = { code: 'EUR', rates: 'rates.csv', source: 'ECB' };

async function folderWith(text: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'costbook-rates-'));
  await writeFile(join(dir, 'rates.csv'), text);
  return dir;
}

describe('the setting currency', () => {
  function read(text: string) {
    return parseConfig({ text, file: '/p/costbook.yaml', env: {}, now: 0, requireAccounts: false }).currency;
  }

  test('has a code, a file and a source', () => {
    expect(read('currency: { code: EUR, rates: rates.csv, source: ECB }')).toEqual({
      ...settings,
      where: '/p/costbook.yaml:1:11',
    });
    expect(read('concurrency: 2')).toBeUndefined();
  });

  test('reports every mistake at once', () => {
    expect(() => read('currency: { code: euro, rates: rates.txt }')).toThrow(
      /found no source(.|\n)*found "euro", expected the code(.|\n)*found "rates\.txt", expected the name of a CSV/,
    );
    expect(() => read('currency: { code: USD, rates: rates.csv, source: ECB }')).toThrow(/other than USD/);
  });
});

describe('readRates(settings, dir)', () => {
  test('reads days and months in any order, with Windows line ends and a byte order mark', async () => {
    const dir = await folderWith('\uFEFFrate,date\r\n0.9300,2026-11\r\n"0.922",2026-10-30\r\n');
    expect(readRates(settings, dir)).toEqual([
      { from: at('2026-10-30'), rate: '0.922' },
      { from: at('2026-11-01'), rate: '0.93' },
    ]);
  });

  test('reports every mistake with its line', async () => {
    const lines = [
      'date,rate',
      '2026-10-30,0.922',
      '2026-13,0.9',
      '2026-02-30,0.9',
      '2026-11-02,0',
      '2026-11-03,-0.9',
      '2026-11-04,"0,9"',
      '2026-11-05,0.123456789',
      '2026-11-06,1e2',
      '2026-10-30,0.93',
      '2026-11-01,0.9',
      '2026-11,0.9',
      '2026-11-07;0.9',
    ];
    const dir = await folderWith(lines.join('\n'));
    let message = '';
    try {
      readRates(settings, dir);
    } catch (error) {
      message = String(error);
    }
    const found = message.split('\n').map((line) => /rates\.csv:(\d+): found (.{0,30})/.exec(line)?.slice(1));
    expect(found).toEqual([
      ['3', expect.stringContaining('"2026-13" as a date')],
      ['4', expect.stringContaining('"2026-02-30" as a date')],
      ['5', expect.stringContaining('"0" as a rate')],
      ['6', expect.stringContaining('"-0.9" as a rate')],
      ['7', expect.stringContaining('"0,9" as a rate')],
      ['8', expect.stringContaining('"0.123456789" as a rate')],
      ['9', expect.stringContaining('"1e2" as a rate')],
      ['10', expect.stringContaining('a second rate for the same day')],
      ['12', expect.stringContaining('a second rate for the same day')],
      ['13', expect.stringContaining('1 cells, expected 2')],
    ]);
    expect(message).toContain('(columns are separated by commas)');
  });

  test.each([
    ['', /rates\.csv:1: found no rates, expected the header date,rate/],
    ['date,rate\n', /found no rates/],
    ['day,rate\n2026-10,1\n', /found the column "day".*\n.*found no column date; add it/],
    ['date,rate,rate\n2026-10,1,1\n', /found the column "rate" a second time/],
    ['date,rate\n2026-10,"1\n', /found a quote that is not closed/],
  ])('refuses %j', async (text, expected) => {
    const dir = await folderWith(text);
    expect(() => readRates(settings, dir)).toThrow(expected);
  });

  test('names a file that does not exist', async () => {
    const dir = await folderWith('date,rate\n2026-10,1\n');
    expect(() => readRates({ ...settings, rates: 'other.csv' }, dir)).toThrow(/other\.csv: found no such file/);
  });
});

describe('the rate of a month', () => {
  const rates = [
    { from: at('2026-08-31'), rate: '0.9' },
    { from: at('2026-10-30'), rate: '0.922' },
    { from: at('2026-11-01'), rate: '0.93' },
    { from: at('2026-11-20'), rate: '0.94' },
  ];
  const closed: ClosedMonth[] = [
    { month: at('2026-07'), closedAt: at('2026-08-05'), runNumber: 1, rate: undefined, accounts: [] },
    {
      month: at('2026-08'),
      closedAt: at('2026-09-05'),
      runNumber: 2,
      rate: { code: 'EUR', rate: '0.8', rateDate: '2026-08-30', source: 'the bank' },
      accounts: [],
    },
  ];
  function eur(through: string) {
    return currencyOf({ code: 'EUR', source: 'ECB', rates, closed, through: at(through) });
  }

  test('is the last one dated before its end', () => {
    const { rateOf } = eur('2026-12-15');
    expect(rateOf(at('2026-10'))).toMatchObject({ rate: '0.922', rateDate: '2026-10-30', source: 'ECB' });
    expect(rateOf(at('2026-09'))).toMatchObject({ rate: '0.9', rateDate: '2026-08-31', isClosed: false });
    expect(rateOf(at('2026-11'))).toMatchObject({ rate: '0.94', rateDate: '2026-11-20' });
  });

  test('of the running month is the last one not after the instant of the books', () => {
    expect(eur('2026-11-19T23:59:59Z').rateOf(at('2026-11'))).toMatchObject({ rate: '0.93' });
    expect(eur('2026-11-20').rateOf(at('2026-11'))).toMatchObject({ rate: '0.94' });
  });

  test('of a closed month is that of its close, and none if the close has none', () => {
    const { rateOf } = eur('2026-12-15');
    expect(rateOf(at('2026-08'))).toEqual({
      ...{ month: '2026-08', rate: '0.8', rateDate: '2026-08-30', source: 'the bank', isClosed: true },
    });
    expect(rateOf(at('2026-07'))).toMatchObject({ rate: null, rateDate: null, isClosed: true });
    const chf = currencyOf({ code: 'CHF', source: 'SNB', rates, closed, through: at('2026-12-15') });
    expect(chf.rateOf(at('2026-08'))).toMatchObject({ rate: null, isClosed: true });
  });

  test('before the first rate does not exist', () => {
    const { rateOf } = eur('2026-12-15');
    const before = rateOf(at('2026-06'));
    expect(before).toMatchObject({ rate: null, rateDate: null, source: null, isClosed: false });
    expect(withoutRateWords('EUR', [before, rateOf(at('2026-07')), rateOf(at('2026-10'))])).toEqual([
      expect.stringMatching(/^2026-07 has no amount in EUR: the month was closed without a rate/),
      expect.stringMatching(/^2026-06 has no amount in EUR: the file of rates starts after/),
    ]);
    expect(currencyOfMonth(eur('2026-12-15'), at('2026-06'))).toBeUndefined();
  });

  test('is named with its day and source', () => {
    const { rateOf } = eur('2026-12-15');
    expect(rateWords('EUR', [rateOf(at('2026-10'))])).toBe('1 USD = 0.922 EUR (2026-10-30, ECB).');
    expect(rateWords('EUR', [rateOf(at('2026-08'))])).toBe('1 USD = 0.8 EUR (2026-08-30, the bank, as at the close).');
    expect(rateWords('EUR', [rateOf(at('2026-10')), rateOf(at('2026-11'))])).toBe(
      '1 USD in EUR: 2026-10 0.922 (2026-10-30), 2026-11 0.94 (2026-11-20); ECB.',
    );
    expect(rateWords('EUR', [rateOf(at('2026-06'))])).toBeUndefined();
  });

  test('is what a close stores', async () => {
    const dir = await folderWith('date,rate\n2026-10-30,0.9220\n2026-11-03,0.93\n');
    expect(rateAtClose(settings, dir, at('2026-10'))).toEqual({
      ...{ code: 'EUR', rate: '0.922', rateDate: '2026-10-30', source: 'ECB' },
    });
    expect(rateAtClose(settings, dir, at('2026-09'))).toBeUndefined();
    expect(rateAtClose(undefined, dir, at('2026-10'))).toBeUndefined();
  });

  test('is old after 45 days', () => {
    expect(areOld(rates, at('2026-12-31'))).toBe(false);
    expect(areOld(rates, at('2027-01-05'))).toBe(true);
  });
});

test.each([
  ['100.000000000000', '0.922', '92.200000000000'],
  ['0.000000000001', '0.5', '0.000000000001'],
  ['-0.000000000001', '0.5', '-0.000000000001'],
  ['0.000000000001', '0.49999999', '0.000000000000'],
  ['123456789012345.123456789012', '150.25', '18549382549104854.799382549053'],
])('%s USD at %s are %s, rounded once', (usd, rate, expected) => {
  const month = { month: '2026-10', rate, rateDate: '2026-10-30', source: 'ECB', isClosed: false };
  expect(converted(usd, { code: 'EUR', rate: month })).toBe(expected);
});

test.each([
  ['JPY', '28,136'],
  ['KWD', '28,136.224'],
  ['EUR', '28,136.22'],
])('an amount in %s has the decimals of that currency', (code, shown) => {
  const rate = { month: '2026-10', rate: '151.27001994', rateDate: '2026-10-30', source: 'ECB', isClosed: false };
  expect(convertedAmount('186', { code, rate })).toBe(shown);
});
