import { moneyOf } from '../../money/money.ts';
import { spellingFault } from '../../money/typed-number.ts';
import { columnNamed } from '../../tables/csv-records.ts';
import { nearest, oneOf, quoted } from '../../text/choices.ts';
import { starsFault } from '../../text/star-pattern.ts';
import type { PeriodKind } from '../../time/time.ts';
import type { Given, Place, Problems } from '../../yaml/index.ts';
import type { BudgetScope } from './budget.ts';
import { readCsvBeside } from './csv-beside.ts';
import { scopeTexts } from './file-keys.ts';
import type { AmountStep } from './planned-amount.ts';
import { type PeriodsGiven, readPeriod } from './read-amount.ts';

/** A line of the table of amounts: one budget in one period. */
interface TableRow {
  readonly place: Place;
  readonly period: string;
  /** Trillionths of a USD. */
  readonly amount: bigint;
  /** Why the amount is not taken if it is no price per unit, which only the budget says. */
  readonly spelling: string | undefined;
}

/** The lines of one budget. */
export interface TableBudget {
  /** Its first line. */
  readonly place: Place;
  readonly rows: readonly TableRow[];
  readonly scope: BudgetScope;
  readonly scopePlaces: ReadonlyMap<string, Place>;
  readonly parent: string | undefined;
}

/** Budgets are compared with their parents, and their periods with each other: a table of more would take hours. */
const mostBudgets = 2000;
const mostPeriods = 5000;

const required = ['budget', 'period', 'amount'] as const;
const optional = ['parent', ...scopeTexts] as const;

/** The budgets of the table that a budget file names, by name. Reports every mistake with file and line. */
export function readTable(
  given: Given | undefined,
  budgetFile: string,
  problems: Problems,
): ReadonlyMap<string, TableBudget> {
  const about = 'the table of amounts that budgets.yaml names';
  const csv = readCsvBeside(given, budgetFile, { example: 'finance.csv', about }, problems);
  if (csv === undefined) return new Map();
  const { placeOf, records } = csv;
  const [top, ...lines] = records;
  const head = top && { ...top, cells: top.cells.map(columnOf) };
  if (head === undefined || lines.length === 0) {
    problems.report(
      placeOf(1),
      `found no amounts, expected the header ${required.join(',')} and a line for each amount`,
    );
    return new Map();
  }
  if (!isHeader(head.cells, placeOf(head.line), problems)) return new Map();
  const budgets = new Map<string, TableBudget & { readonly rows: TableRow[] }>();
  for (const { line, cells } of lines) {
    if (cells.length !== head.cells.length) {
      problems.report(
        placeOf(line),
        `found ${cells.length} cells, expected ${head.cells.length} as in the header line`,
      );
      continue;
    }
    const named = new Map(head.cells.map((column, index) => [column, cells[index] ?? '']));
    readLine(named, placeOf(line), budgets, problems);
    const periods = budgets.get(named.get('budget') ?? '')?.rows.length ?? 0;
    if (budgets.size <= mostBudgets && periods <= mostPeriods) continue;
    problems.report(
      placeOf(line),
      `found more than ${budgets.size > mostBudgets ? `${mostBudgets} budgets` : `${mostPeriods} periods of one budget`}; remove some`,
    );
    return budgets;
  }
  return budgets;
}

/** `Owner.team` is `owner.team`: only what the project has named has a case of its own. */
function columnOf(name: string): string {
  const [, group, key] = /^(owner|label)\.(.+)$/i.exec(name) ?? [];
  return group === undefined ? columnNamed(name, [...required, ...optional]) : `${group.toLowerCase()}.${key}`;
}

function isHeader(cells: readonly string[], place: Place, problems: Problems): boolean {
  const known = [...required, ...optional];
  const faults = cells.flatMap((name, column) => {
    if (cells.indexOf(name) !== column) return [`found the column ${quoted(name)} a second time; keep one`];
    if (known.some((other) => other === name) || /^(owner|label)\../.test(name)) return [];
    const guess = nearest(name, known);
    const hint = guess ? `did you mean ${guess}?` : `expected ${oneOf([...known, 'owner.<dimension>', 'label.<key>'])}`;
    return [
      `found the column ${quoted(name)}; ${hint}${name.includes(';') ? ' (columns are separated by commas)' : ''}`,
    ];
  });
  const missing = required.filter((name) => !cells.includes(name));
  if (missing.length > 0)
    faults.push(`found no column ${missing.join(', ')}; add ${missing.length === 1 ? 'it' : 'them'}`);
  for (const fault of faults) problems.report(place, fault);
  return faults.length === 0;
}

function readLine(
  cells: ReadonlyMap<string, string>,
  place: Place,
  budgets: Map<string, TableBudget & { readonly rows: TableRow[] }>,
  problems: Problems,
): void {
  const [name = '', period = '', amountText = ''] = required.map((column) => cells.get(column));
  const spelling = spellingFault(amountText);
  const amount = amountOf(amountText);
  const faults = [
    ...(budgetNamePattern.test(name)
      ? []
      : [`found ${quoted(name)} as a budget, expected a name of letters, digits and . _ - without spaces`]),
    ...(period === '' ? ['found no period, expected one such as 2026-10'] : []),
    ...(amount === undefined
      ? [
          spelling ??
            `found ${quoted(amountText)} as an amount, expected USD above 0 without separators between the digits, such as 5000 or 5000.25`,
        ]
      : []),
  ];
  const scope = scopeOf(cells);
  const parent = cells.get('parent') || undefined;
  const known = budgets.get(name);
  if (scope.owner !== undefined && scope.label !== undefined)
    faults.push('found an owner and a label, expected only one of the two');
  if (known !== undefined && JSON.stringify([known.scope, known.parent]) !== JSON.stringify([scope, parent])) {
    faults.push(
      `found another scope or parent than on the first line of ${quoted(name)} (${known.place.where}); write the same on every line`,
    );
  }
  faults.push(...(scope.resource_name ?? []).flatMap((pattern) => starsFault(pattern) ?? []));
  const first = known?.rows.find((row) => row.period === period);
  if (first !== undefined)
    faults.push(`found ${period} of ${quoted(name)} a second time, first at ${first.place.where}; keep one`);
  for (const fault of faults) problems.report(place, fault);
  if (!budgetNamePattern.test(name)) return;
  const scopePlaces = new Map([...Object.keys(scope), ...[...cells.keys()]].map((key) => [key, place]));
  const budget = known ?? { place, rows: [], scope, scopePlaces, parent };
  budgets.set(name, budget);
  if (amount !== undefined && period !== '' && first === undefined) {
    budget.rows.push({ place, period, amount, spelling });
  }
}

export const budgetNamePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;

function amountOf(text: string): bigint | undefined {
  const [, digits] = /^(\d{1,15}(?:\.\d{1,12})?)(?: USD)?$/.exec(text) ?? [];
  const usd = digits === undefined ? 0n : moneyOf(digits);
  return usd > 0n ? usd : undefined;
}

/** The scope in the cells of a line: several values are separated by `|`. */
function scopeOf(cells: ReadonlyMap<string, string>): BudgetScope {
  const scope: Record<string, readonly string[] | Record<string, readonly string[]>> = {};
  for (const [column, cell] of cells) {
    const values = [...new Set(cell.split('|').map((value) => value.trim()))].filter((value) => value !== '');
    if (values.length === 0) continue;
    const [, group, key = ''] = /^(owner|label)\.(.+)$/.exec(column) ?? [];
    if (group !== undefined) scope[group] = { ...(scope[group] as Record<string, readonly string[]>), [key]: values };
    else if (scopeTexts.some((name) => name === column)) scope[column] = values;
  }
  return scope as BudgetScope;
}

const kindPatterns: readonly (readonly [PeriodKind, RegExp])[] = [
  ['daily', /^\d{4}-\d\d-\d\d$/],
  ['weekly', /^\d{4}-W/],
  ['quarterly', /^\d{4}-Q/],
  ['monthly', /^\d{4}-\d/],
  ['yearly', /^\d{4}$/],
  ['fiscal_month', /^FY\d{4}-P/],
  ['fiscal_quarter', /^FY\d{4}-Q/],
  ['fiscal_year', /^FY\d{4}$/],
];

/** The kind of period that a name has the form of. */
export function kindOfPeriod(name: string): PeriodKind | undefined {
  return kindPatterns.find(([, pattern]) => pattern.test(name))?.[0];
}

/** The amounts of a budget's lines, in ascending order; the periods that do not exist are reported. */
export function tableSteps(
  { rows }: TableBudget,
  periods: PeriodsGiven,
  arePrices: boolean,
  problems: Problems,
): readonly (AmountStep & { readonly name: string; readonly place: Place })[] {
  const steps = rows.flatMap(({ place, period, amount, spelling }) => {
    if (spelling !== undefined && !arePrices) problems.report(place, spelling);
    const found = readPeriod(period, place, periods, problems);
    return found === undefined ? [] : [{ from: found.start, amount, name: period, place }];
  });
  return steps.sort((a, b) => a.from - b.from);
}
