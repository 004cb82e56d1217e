import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { amountIn, type Budget, budgetCalendar } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { ownerBudgets } from '../../src/budgets/rules/owner-budgets.ts';
import { carriedOf } from '../../src/budgets/spend/carried.ts';
import { decimalOfWhole } from '../../src/money/money.ts';
import { formatInstant } from '../../src/time/time.ts';
import fc from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';

const now = Date.parse('2026-11-05T10:30:00Z');

function parse(text: string, file = 'jobs/budgets.yaml'): readonly Budget[] {
  return parseBudgets({ text, file, now });
}

/** The problems, one a line. */
function problems(text: string, file = 'jobs/budgets.yaml'): string {
  try {
    parse(text, file);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return error instanceof Error ? error.message.replaceAll(file.replace('budgets.yaml', ''), '') : '';
  }
  return 'none';
}

function only(text: string): Budget {
  const [first] = parse(text);
  if (first === undefined) throw new Error('no budget');
  return first;
}

/** The amounts of these periods, in USD. */
function amounts(budget: Budget, ...periods: string[]): string[] {
  return periods.map((period) => decimalOfWhole(amountIn(budget, period), 12).replace(/0{10}$/, ''));
}

describe('an amount that grows', () => {
  const growing = (growth: string, more = 'period: monthly, from: 2026-10') =>
    only(`budgets: [{ name: g, amount: 1000 USD, growth: ${growth}, ${more} }]`);

  test('has its first amount up to the first period, and grows with each month, in cents', () => {
    expect(amounts(growing('5% monthly'), '2020-01', '2026-10', '2026-11', '2026-12', '2027-10')).toEqual([
      '1000.00',
      '1000.00',
      '1050.00',
      '1102.50',
      '1795.86', // 1.05 ^ 12 is 1.795856…
    ]);
  });

  test('grows by quarters and years too, and may shrink, never below a cent', () => {
    expect(amounts(growing('10% quarterly'), '2026-12', '2027-01', '2027-04')).toEqual([
      '1000.00',
      '1100.00',
      '1210.00',
    ]);
    expect(amounts(growing('-50% yearly'), '2027-09', '2027-10', '2046-10')).toEqual(['1000.00', '500.00', '0.01']);
  });

  test('counts months between days, weeks and quarters as well', () => {
    expect(amounts(growing('10% monthly', 'period: daily, from: 2026-10-15'), '2026-10-31', '2026-11-01')).toEqual([
      '1000.00',
      '1100.00',
    ]);
    expect(amounts(growing('10% monthly', 'period: quarterly, from: 2026-Q4'), '2027-Q1')).toEqual(['1331.00']);
    expect(amounts(growing('10% yearly', 'period: weekly, from: 2026-W40'), '2027-W35', '2027-W36')).toEqual([
      '1000.00',
      '1100.00', // its Monday is in September, as that of the first week
    ]);
  });

  test('gives way to the limit of a period', () => {
    const budget = growing('5% monthly', 'period: monthly, from: 2026-10, limits: { 2026-11: 7 USD }');
    expect(amounts(budget, '2026-11', '2026-12')).toEqual(['7.00', '1102.50']);
  });

  test('is exact after any number of months', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 48 }), (percent, months) => {
        const budget = growing(`${percent}% monthly`);
        const name = formatInstant(Date.UTC(2026, 9 + months, 1)).slice(0, 7);
        const exact = (1000 * (100 + percent) ** months) / 100 ** months;
        const found = Number(amounts(budget, name)[0]);
        const most = 1e15;
        expect(Math.abs(found - Math.min(exact, most)) <= Math.min(exact, most) * 1e-9 + 0.005).toBe(true);
      }),
    );
  });
});

test('amounts of a list belong to consecutive periods; the last stays', () => {
  const budget = only('budgets: [{ name: l, period: quarterly, limits: [100 USD, 200 USD, 150 USD], from: 2026-Q4 }]');
  expect(amounts(budget, '2026-Q3', '2026-Q4', '2027-Q1', '2027-Q2', '2030-Q1')).toEqual([
    ...['100.00', '100.00', '200.00', '150.00', '150.00'],
  ]);
});

test('mistakes in amounts are reported at once, each with its place', () => {
  expect(
    problems(`budgets:
  - { name: a, period: monthly, amount: 5 USD, growth: 5% weekly, from: 2026-10 }
  - { name: b, period: monthly, amount: 5 USD, growth: 5% monthly }
  - { name: c, period: monthly, amount: 5 USD, limits: [5 USD], from: 2026-10 }
  - { name: d, period: monthly, limits: [5 USD, 6], from: 2026-W10 }
  - { name: e, period: monthly, amount: 5 USD, from: 2026-10 }
  - { name: f, period: monthly, amount: 5 USD, rollover: { cap: lots }, from: 2026-10 }
  - { name: g, period: monthly, growth: 5% monthly, from: 2026-10 }
  - { name: h, period: fiscal_month, amount: 5 USD }
  - { name: i, period: monthly, amount: 5 USD, growth: -100% monthly, from: 2026-10 }
`),
  ).toBe(`budgets.yaml:2:56: growth: found "5% weekly", expected a percentage other than 0 and above -100%, and monthly, quarterly or yearly, such as 5% monthly or -2.5% yearly
budgets.yaml:3:56: growth: found growth without from, the first period; add one: a month such as 2026-10
budgets.yaml:4:56: limits: found together with amount, expected only one of the two; remove the other
budgets.yaml:5:49: limits: found 6, expected an amount above 0 such as 5000 USD or 0.25 USD, in USD and without separators between the digits
budgets.yaml:5:59: from: found "2026-W10" as a period, expected a month such as 2026-10
budgets.yaml:6:54: from: found from without growth, rollover or a list of limits, which start with that period; remove it
budgets.yaml:7:65: cap: found "lots", expected a share of the amount up to 9999%, or an amount, both above 0, such as 80%, 82.5% or 4500 USD
budgets.yaml:8:5: found no amount, expected an amount such as amount: 5000 USD; add it
budgets.yaml:8:41: growth: found growth without amount, which is the amount of the first period; add it
budgets.yaml:9:24: period: found fiscal_month, which needs the fiscal year; add a line such as fiscalYear: { start: april } at the top of the file
budgets.yaml:10:56: growth: found "-100% monthly", expected a percentage other than 0 and above -100%, and monthly, quarterly or yearly, such as 5% monthly or -2.5% yearly`);
});

describe('a fiscal year', () => {
  const fiscal = (year: string, period: string) =>
    only(`fiscalYear: ${year}\nbudgets: [{ name: f, period: ${period}, amount: 5 USD }]`);
  function periodOf(budget: Budget, day: string): string {
    const { name, start, end } = budgetCalendar(budget).periodAt(Date.parse(day));
    return `${name} ${formatInstant(start).slice(0, 10)} ${formatInstant(end).slice(0, 10)}`;
  }

  test('of calendar months starts in any month, and is named after the year in which it ends', () => {
    const april = '{ start: april }';
    expect(periodOf(fiscal(april, 'fiscal_year'), '2026-03-31')).toBe('FY2026 2025-04-01 2026-04-01');
    expect(periodOf(fiscal(april, 'fiscal_year'), '2026-04-01')).toBe('FY2027 2026-04-01 2027-04-01');
    expect(periodOf(fiscal(april, 'fiscal_quarter'), '2027-01-31')).toBe('FY2027-Q4 2027-01-01 2027-04-01');
    expect(periodOf(fiscal(april, 'fiscal_month'), '2026-06-15')).toBe('FY2027-P03 2026-06-01 2026-07-01');
    expect(periodOf(fiscal('{ start: april, named: start }', 'fiscal_year'), '2026-04-01')).toBe(
      'FY2026 2026-04-01 2027-04-01',
    );
    expect(periodOf(fiscal('{ start: january }', 'fiscal_year'), '2026-04-01')).toBe('FY2026 2026-01-01 2027-01-01');
  });

  // The calendar of the National Retail Federation: 2023 had 53 weeks.
  const retail = '{ start: february, named: start, weeks: 4-5-4, weekday: sunday }';
  test.each([
    ['fiscal_year', '2023-06-01', 'FY2023 2023-01-29 2024-02-04'],
    ['fiscal_year', '2024-06-01', 'FY2024 2024-02-04 2025-02-02'],
    ['fiscal_year', '2025-06-01', 'FY2025 2025-02-02 2026-02-01'],
    ['fiscal_month', '2024-01-31', 'FY2023-P12 2023-12-31 2024-02-04'],
    ['fiscal_month', '2025-03-01', 'FY2025-P01 2025-02-02 2025-03-02'],
    ['fiscal_month', '2025-03-02', 'FY2025-P02 2025-03-02 2025-04-06'],
    ['fiscal_quarter', '2025-05-04', 'FY2025-Q2 2025-05-04 2025-08-03'],
  ])('of weeks: the %s at %s is %s', (period, day, expected) => {
    expect(periodOf(fiscal(retail, period), day)).toBe(expected);
  });

  test('of weeks may start on the last weekday up to the first of the month', () => {
    const before = '{ start: october, weeks: 4-4-5, weekday: sunday, weekStart: before }';
    expect(periodOf(fiscal(before, 'fiscal_year'), '2026-11-01')).toBe('FY2027 2026-09-27 2027-09-26');
  });

  test('puts every instant into exactly one period, whatever its rules', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('january', 'february', 'july', 'december'),
        fc.constantFrom('', ', weeks: 4-4-5', ', weeks: 5-4-4, weekday: friday', ', weeks: 4-5-4, weekStart: before'),
        fc.constantFrom('fiscal_month', 'fiscal_quarter', 'fiscal_year'),
        fc.constantFrom('start', 'end'),
        fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2060, 0, 1) }),
        (start, weeks, period, named, instant) => {
          const calendar = budgetCalendar(fiscal(`{ start: ${start}, named: ${named}${weeks} }`, period));
          const found = calendar.periodAt(instant);
          expect(found.start <= instant && instant < found.end).toBe(true);
          expect(calendar.periodAt(found.end).start).toBe(found.end);
          expect(calendar.periodAt(found.start - 1).end).toBe(found.start);
          expect(calendar.periodNamed(found.name)).toEqual(found);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('counts growth in its own months', () => {
    const budget = only(
      `fiscalYear: ${retail}\nbudgets: [{ name: f, period: fiscal_month, amount: 100 USD, growth: 10% monthly, from: FY2025-P01 }]`,
    );
    expect(amounts(budget, 'FY2025-P02', 'FY2025-P03', 'FY2026-P01')).toEqual(['110.00', '121.00', '313.84']);
  });

  test('reports its mistakes', () => {
    expect(
      problems(
        'fiscalYear: { begin: april, weekday: monday }\nbudgets: [{ name: f, period: fiscal_year, amount: 5 USD }]',
      ),
    ).toBe(
      `budgets.yaml:1:13: fiscalYear: found no start, expected a month such as start: april; add it
budgets.yaml:1:15: unknown key "begin"; expected one of start, named, weeks, weekday or weekStart
budgets.yaml:1:38: weekday: found weekday without weeks, so that months start on their first day; add weeks: 4-4-5, or remove it`,
    );
  });
});

describe('children', () => {
  test('whose amounts grow may not exceed their parent in any of the coming years', () => {
    const text = (growth: string) => `budgets:
  - { name: all, period: monthly, amount: 1000 USD, growth: 1% monthly, from: 2026-10 }
  - { name: a, parent: all, period: monthly, amount: 500 USD, growth: ${growth}, from: 2026-10 }
  - { name: b, parent: all, period: monthly, amount: 400 USD }
`;
    expect(problems(text('1% monthly'))).toBe('none');
    expect(problems(text('5% monthly'))).toBe(
      'budgets.yaml:2:43: amount: found 1061.52 USD in 2027-04, expected at least 1070.05 USD, the sum of its children (a, b); raise it, or lower theirs',
    );
  });

  test('with lists are compared period by period', () => {
    expect(
      problems(`budgets:
  - { name: all, period: monthly, limits: [100 USD, 200 USD], from: 2026-10 }
  - { name: a, parent: all, period: monthly, limits: [100 USD, 200 USD, 201 USD], from: 2026-10 }
`),
    ).toBe(
      'budgets.yaml:2:43: limits: found 200 USD in 2026-12, expected at least 201 USD, the sum of its children (a); raise it, or lower theirs',
    );
  });
});

describe('rollover', () => {
  const budget = (more: string) =>
    only(`budgets: [{ name: r, period: monthly, amount: 100 USD, from: 2026-08, rollover: ${more} }]`);
  const usd = 10n ** 12n;
  function carried(of: Budget, ...spent: (number | undefined)[]): string[] {
    const spends = spent.map((amount, index) => {
      const period = budgetCalendar(of).periodNamed(`2026-${String(8 + index).padStart(2, '0')}`);
      if (period === undefined) throw new Error('no period');
      return {
        period,
        spent: amount === undefined ? undefined : BigInt(amount) * usd,
        gaps: [],
        completeThrough: period.end,
      };
    });
    return [...carriedOf(of, spends)].map(([name, { amount }]) => `${name} ${Number(amount / usd)}`);
  }

  test('adds what is left of a period to the next one, and what is left of that to the one after', () => {
    expect(carried(budget('true'), 70, 120, 150)).toEqual(['2026-09 30', '2026-10 10', '2026-11 0']);
  });

  test('adds at most its cap', () => {
    expect(carried(budget('{ cap: 20% }'), 70, 100)).toEqual(['2026-09 20', '2026-10 20']);
    expect(carried(budget('{ cap: 25 USD }'), 70, 100)).toEqual(['2026-09 25', '2026-10 25']);
  });

  test('adds nothing from a period that is unknown', () => {
    expect(carried(budget('true'), undefined, 90)).toEqual(['2026-09 0', '2026-10 10']);
  });
});

describe('parts of a budget', () => {
  test('give it the scope of all of them, if they differ in one key', () => {
    const shared = only(
      'budgets: [{ name: s, period: monthly, amount: 5 USD, parts: [{ name: x, scope: { owner: { team: a } } }, { name: y, scope: { owner: { team: [b, c] } } }] }]',
    );
    expect(shared.scope).toEqual({ owner: { team: ['a', 'b', 'c'] } });
    expect(shared.parts).toEqual([
      { name: 'x', scope: { owner: { team: ['a'] } } },
      { name: 'y', scope: { owner: { team: ['b', 'c'] } } },
    ]);
  });

  test('may not share costs, and lie within the scope of the budget', () => {
    expect(
      problems(`budgets:
  - name: s
    period: monthly
    amount: 5 USD
    scope: { workspace: [a, b] }
    parts:
      - { name: x, scope: { workspace: a } }
      - { name: y, scope: { resource_type: sandbox } }
      - { name: z, scope: { workspace: c } }
  - name: t
    period: monthly
    amount: 5 USD
    parts: [{ name: x, scope: { workspace: a } }, { name: y, scope: { resource_type: b } }]
`),
    ).toBe(`budgets.yaml:8:17: name: found "x" and "y", which may include the same costs, expected different values of one key, such as workspace or owner: team
budgets.yaml:9:17: name: found "y" and "z", which may include the same costs, expected different values of one key, such as workspace or owner: team
budgets.yaml:9:40: workspace: found "c", which the budget "s" does not include, expected only "a" or "b"; a budget includes all of its parts
budgets.yaml:13:12: parts: found parts that differ in more than one key, and no scope; add a scope that includes all parts
budgets.yaml:13:59: name: found "x" and "y", which may include the same costs, expected different values of one key, such as workspace or owner: team`);
  });
});

describe('the table of finance', () => {
  async function withTable(table: string, text: string): Promise<string> {
    const dir = join(await newProject(), 'jobs');
    await mkdir(dir);
    await writeFile(join(dir, 'finance.csv'), table);
    await writeFile(join(dir, 'budgets.yaml'), text);
    return join(dir, 'budgets.yaml');
  }

  test('gives budgets of the file their amounts, and adds its own budgets', async () => {
    const text = `table: finance.csv
budgets:
  - { name: all, period: monthly }
  - { name: usual, period: monthly, amount: 9 USD }
`;
    const file = await withTable(
      '\uFEFFbudget,period,amount,owner.team,workspace,parent\r\nall,2026-11,120,,,\r\nall,2026-10,"100.50 USD",,,\r\n' +
        'usual,2026-12,8,,,\r\nads,2026-10,40,Ads,north|south,all\r\nads,2026-12,50,Ads,north|south,all\r\n',
      text,
    );
    const [all, usual, ads] = parse(text, file);
    if (all === undefined || usual === undefined || ads === undefined) throw new Error('a budget is missing');
    expect(amounts(all, '2026-09', '2026-10', '2026-11', '2027-05')).toEqual(['100.50', '100.50', '120.00', '120.00']);
    expect(amounts(usual, '2026-11', '2026-12', '2027-01')).toEqual(['9.00', '8.00', '9.00']);
    expect(amounts(ads, '2026-11', '2026-12')).toEqual(['40.00', '50.00']);
    expect(ads).toMatchObject({
      name: 'ads',
      period: 'monthly',
      parent: 'all',
      scope: { owner: { team: ['Ads'] }, workspace: ['north', 'south'] },
    });
    expect(ads.thresholds).toHaveLength(2);
    expect([all, usual, ads].map(({ amountFile }) => amountFile)).toEqual(Array(3).fill('jobs/finance.csv'));
  });

  test('reports every mistake at once, with file and line', async () => {
    const text = `table: finance.csv
budgets:
  - { name: all, period: monthly }
  - { name: both, period: monthly, limits: [5 USD], from: 2026-10 }
`;
    const file = await withTable(
      `budget,period,amount,workspace
all,2026-10,"5,000",
all,2026-Q4,5,
all,2026-11,5,
all,2026-11,6,
two words,2026-10,5,
new,soon,5,
other,2026-10,5,a
other,2026-11,5,b
both,2026-11,5,
short,2026-11
`,
      text,
    );
    expect(problems(text, file)).toBe(
      `budgets.yaml:4:44: limits: found limits, but the table has amounts of this budget (finance.csv:10); remove one of the two
finance.csv:2: found "5,000", which some read as 5000 and some as 5; write 5000 or 5
finance.csv:5: found 2026-11 of "all" a second time, first at finance.csv:4; keep one
finance.csv:6: found "two words" as a budget, expected a name of letters, digits and . _ - without spaces
finance.csv:9: found another scope or parent than on the first line of "other" (finance.csv:8); write the same on every line
finance.csv:11: found 2 cells, expected 4 as in the header line
finance.csv:3: found "2026-Q4" as a period, expected a month such as 2026-10
finance.csv:7: found "soon" as a period, expected one such as 2026-10, 2026-Q4 or FY2027-P03`,
    );
  });

  test('may not be so large that its budgets or their names are compared for hours', async () => {
    const text = 'table: finance.csv\n';
    const budgets = Array.from({ length: 2_010 }, (_, index) => `b${index},2026-12,1,b${index - 1}`);
    expect(problems(text, await withTable(`budget,period,amount,parent\n${budgets.join('\n')}\n`, text))).toContain(
      'finance.csv:2002: found more than 2000 budgets; remove some',
    );
    const periods = Array.from({ length: 5_010 }, (_, index) => {
      return `all,${1000 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')},1`;
    });
    expect(problems(text, await withTable(`budget,period,amount\n${periods.join('\n')}\n`, text))).toBe(
      'finance.csv:5002: found more than 5000 periods of one budget; remove some',
    );
    const named = `all,2026-12,2,${'*a'.repeat(20)}*b,\nbox,2026-12,1,${'a'.repeat(400)},all\n`;
    expect(problems(text, await withTable(`budget,period,amount,resource_name,parent\n${named}`, text))).toContain(
      'finance.csv:2: found a name with 21 stars, expected at most 4; list the names',
    );
  });

  test('must exist, with its three columns', async () => {
    const text = 'table: finance.csv\nbudgets: [{ name: all, period: monthly, amount: 5 USD }]\n';
    expect(problems(text, await withTable('budget;period;amount\n', text))).toContain('found no amounts');
    expect(problems(text, await withTable('budget;period;amount\nall;2026-10;5\n', text))).toBe(
      'finance.csv:1: found the column "budget;period;amount"; expected budget, period, amount, parent, account, workspace, resource_type, resource_name, billing_dimension, owner.<dimension> or label.<key> (columns are separated by commas)\n' +
        'finance.csv:1: found no column budget, period, amount; add them',
    );
    expect(problems(text.replace('finance.csv', 'none.csv'), await withTable('', text))).toContain(
      'none.csv: found no such file, expected the table of amounts that budgets.yaml names; create it, or correct the name',
    );
    expect(problems(text.replace('finance.csv', '../finance.csv'))).toContain(
      'expected the name of a CSV file in the same folder',
    );
  });
});

test('reports get the months of amounts that change', () => {
  const text =
    'budgets: [{ name: s, scope: { owner: { team: S } }, period: monthly, limits: [1 USD, 2 USD], from: 2026-11 }]';
  const entries = JSON.parse(ownerBudgets(parse(text))) as { month: string | null; amount: string }[];
  expect(entries.slice(0, 4).map(({ month, amount }) => `${month} ${Number(amount)}`)).toEqual([
    ...['null 1', '2026-11 1', '2026-12 2', '2027-01 2'],
  ]);
});
