import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAnomalyRules } from '../../src/anomalies/rules.ts';
import { loadBudgets } from '../../src/budgets/rules/file.ts';
import { parseEffect } from '../../src/budgets/rules/planned-change.ts';
import { parseConfig } from '../../src/config/config.ts';
import { typedDecimal } from '../../src/money/money.ts';
import { spellingFault } from '../../src/money/typed-number.ts';
import { invoiceOption } from '../../src/warehouse/ledger/reopening.ts';
import fc from '../support/fast-check.ts';
import { newProject, runCli } from '../support/project.ts';

describe('spellingFault(text)', () => {
  test.each([
    ['5.000 USD', 'which some read as 5000 and some as 5; write 5000 USD or 5 USD'],
    ['-1.860', 'which some read as -1860 and some as -1.86; write -1860 or -1.86'],
    ['1.125 USD', 'which some read as 1125 and some as 1.125; write 1125 USD or 1.1250 USD'],
    ['1,250', 'which some read as 1250 and some as 1.25; write 1250 or 1.25'],
    ['1,860.00', 'with separators between the digits; write 1860.00'],
    ['1.860,00', 'with separators between the digits; write 1860.00'],
    ['1860,00', 'with separators between the digits; write 1860.00'],
    ['0,250', 'with separators between the digits; write 0.250'],
    ['1.860.000 USD', 'with separators between the digits; write 1860000 USD'],
    ['12,34,567.80', 'with separators between the digits; write 1234567.80'],
    ["1'860.00", 'with separators between the digits; write 1860.00'],
    ['1 860,50', 'with separators between the digits; write 1860.50'],
    ['1\u00a0860\u202f000', 'with separators between the digits; write 1860000'],
  ])('%j is refused with what it may mean', (typed, words) => {
    expect(spellingFault(typed)?.replace(/^found ".*?", /, '')).toBe(words);
  });

  test.each(['5000', '5', '0.250', '1.25', '1.2500', '1860.000', '0.000', '1.5 USD', '', 'none', '1e3', '80%'])(
    '%j has one meaning',
    (typed) => {
      expect(spellingFault(typed)).toBeUndefined();
    },
  );

  test('takes every decimal that Costbook writes for people to type', () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_999_999, max: 9_999_999 }), fc.nat({ max: 6 }), (digits, decimals) => {
        const typed = typedDecimal((digits / 10 ** decimals).toFixed(decimals));
        expect(spellingFault(typed)).toBeUndefined();
        expect(Number(typed)).toBe(Number((digits / 10 ** decimals).toFixed(decimals)));
      }),
    );
    expect(invoiceOption([{ account: 'acc_a', invoiced: '1.865' }])).toBe('--invoice acc_a=1.8650');
  });
});

const both = 'which some read as 5000 and some as 5; write 5000';

describe('5.000 is refused with both readings', () => {
  const now = Date.parse('2026-11-05T10:30:00Z');
  /** The mistakes in a budget file with these lines, beside these files. */
  async function inBudgets(lines: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<string> {
    const dir = join(await newProject(), 'jobs');
    mkdirSync(dir, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    writeFileSync(join(dir, 'budgets.yaml'), lines.join('\n'));
    try {
      loadBudgets(join(dir, 'budgets.yaml'), { now, sinks: undefined });
      return 'none';
    } catch (error) {
      return (error as Error).message.replaceAll(`${dir}/`, '');
    }
  }
  const budget = (more: string) => ['budgets:', `  - { name: all, period: monthly, ${more} }`];

  test.each([
    ['the amount of a budget', budget('amount: 5.000 USD'), 'amount: found "5.000 USD"'],
    ['usage', budget('amount: 5.000 GB-seconds'), 'amount: found "5.000 GB-seconds"'],
    ['limits', budget('amount: 9 USD, limits: { 2026-12: 5.000 USD }'), '2026-12: found "5.000 USD"'],
    ['a list of limits', budget('from: 2026-10, limits: [5.000 USD]'), 'limits: found "5.000 USD"'],
    ['a threshold', budget('amount: 9000 USD, thresholds: [{ at: 5.000 USD }]'), 'at: found "5.000 USD"'],
    [
      'the cap of a rollover',
      budget('amount: 9 USD, from: 2026-10, rollover: { cap: 5.000 USD }'),
      'cap: found "5.000 USD"',
    ],
    [
      'a planned change',
      [...budget('amount: 9 USD'), 'changes: [{ name: launch, on: 2026-12-01, effect: +5.000 USD daily }]'],
      'effect: found "+5.000 USD daily", which some read as +5000 and some as +5; write +5000 USD daily or +5 USD daily',
    ],
  ])('as %s', async (_, lines, words) => {
    const told = await inBudgets(lines);
    expect(told).toContain(words);
    expect(told).toMatch(/which some read as \+?5000 and some as \+?5; write/);
  });

  test('in the table of finance and in counts', async () => {
    const table = { 'finance.csv': 'budget,period,amount\nall,2026-10,5.000\n' };
    expect(await inBudgets(['table: finance.csv'], table)).toBe(`finance.csv:2: found "5.000", ${both} or 5`);
    const counts = { 'orders.csv': 'date,count\n2026-11-01,1.250\n' };
    expect(await inBudgets(budget('amount: 9 USD, per: { name: order, counts: orders.csv }'), counts)).toBe(
      'orders.csv:2: found "1.250", which some read as 1250 and some as 1.25; write 1250 or 1.25',
    );
  });

  test('but not as a price per unit', async () => {
    const files = {
      'orders.csv': 'date,count\n2026-11-01,1250\n',
      'finance.csv': 'budget,period,amount\nall,2026-10,1.125',
    };
    const lines = budget('per: { name: order, counts: orders.csv }, amount: 1.125 USD, thresholds: [at: 1.250 USD]');
    expect(await inBudgets(['table: finance.csv', ...lines], files)).toBe('none');
  });

  test('as minAmount of anomalies, as a tolerance and as a whole number of any setting', () => {
    expect(() => parseAnomalyRules({ text: 'anomalies: { minAmount: 5.000 USD }', file: 'b.yaml' })).toThrow(
      `minAmount: found "5.000 USD", ${both} USD or 5 USD`,
    );
    expect(() => parseAnomalyRules({ text: 'anomalies: { hourlyTimes: 5.000 }', file: 'b.yaml' })).toThrow(both);
    const read = (text: string, env = {}) => parseConfig({ text, file: 'c.yaml', env, now, requireAccounts: false });
    expect(() => read('proof: { tolerance: 5.000 }')).toThrow(`tolerance: found "5.000", ${both} or 5`);
    expect(() => read('', { COSTBOOK_PROOF_TOLERANCE: '5.000' })).toThrow(`TOLERANCE: found "5.000", ${both} or 5`);
    expect(() => read('landing: { keepDays: 5.000 }')).toThrow(`keepDays: found "5.000", ${both} or 5`);
  });

  test('as a change and an invoice of a command line, which show all that was typed', async () => {
    expect(() => parseEffect('-5.000 USD')).toThrow('write -5000 USD or -5 USD');
    const dir = await newProject();
    mkdirSync(join(dir, 'jobs'));
    const close = async (invoice: string) =>
      (await runCli(['close', '2026-09', '--invoice', invoice, '--dir', dir])).stderr;
    expect(await close('1.860')).toContain(
      '--invoice: found "1.860", which some read as 1860 and some as 1.86; write 1860 or 1.86',
    );
    expect(await close('1,860.00')).toContain('found "1,860.00", with separators between the digits; write 1860.00');
    expect(await close('1860,00')).toContain('found "1860,00", with separators between the digits; write 1860.00');
    expect(await close('acc_a=1,860.00,acc_b=98')).toContain('found "1,860.00", with separators');
    expect(await close('acc_a=12,acc_b=1.860')).toContain('found "1.860", which some read as 1860');
    expect(await close('many')).toContain('--invoice: found "many", expected USD such as 1234.56');
  });
});
