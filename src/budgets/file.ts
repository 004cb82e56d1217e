import { join } from 'node:path';
import { oneOf, quoted } from '../choices.ts';
import {
  choiceParser,
  entriesOf,
  type Given,
  gatherProblems,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  parseYaml,
  readValue,
  readYamlFile,
} from '../config/index.ts';
import { wholeOfDecimal } from '../decimals.ts';
import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import { usdDecimals } from '../money.ts';
import { severities } from '../severity.ts';
import { addCalendarMonths, calendarOf, type Instant, type PeriodKind, periodKinds } from '../time.ts';
import { type Budget, percentDecimals, shortest, type Threshold, thresholdSubjects } from './budget.ts';
import { budgetRule, thresholdRule, topRule } from './file-keys.ts';
import { type Named, reportUnknownParents, type Written, withParents } from './parents.ts';
import { readNames, readScope, refuse } from './read-scope.ts';

export interface BudgetsInput {
  readonly text: string;
  /** The file's name in error messages. */
  readonly file: string;
  /** The time zone must put the boundaries of the period at this instant on whole hours of UTC. */
  readonly now: Instant;
  /** Names of the configured sinks; undefined to skip that check. */
  readonly sinks?: readonly string[] | undefined;
}

/** The file of a project's budgets. */
export function budgetsFile(dir: string): string {
  return join(dir, 'jobs', 'budgets.yaml');
}

/**
 * A project's budgets, or those of another file; undefined if the file does not exist.
 * Throws one UsageError that lists every problem, one a line: `file:line:column: …`.
 */
export function loadBudgets(
  file: string,
  { now, sinks }: Pick<BudgetsInput, 'now' | 'sinks'>,
): readonly Budget[] | undefined {
  const text = readYamlFile(file);
  return text === undefined ? undefined : parseBudgets({ text, file, now, sinks });
}

/** Parses budgets. Pure. Throws one UsageError that lists every problem, one per line, by position. */
export function parseBudgets(input: BudgetsInput): readonly Budget[] {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(input.text, input.file, problems);
  const top = isSound && root.value !== null ? keysOf(root, topRule, problems) : undefined;
  const list = top?.get('budgets');
  const given = list ? itemsOf(list, 'a list of budgets such as - name: everything', problems) : [];
  const names = new Map<string, Place>();
  const parents: { readonly name: string; readonly place: Place }[] = [];
  const written = given.flatMap((item) => readBudget(item, input, { names, parents }, problems) ?? []);
  reportUnknownParents(parents, [...names.keys()], problems);
  const budgets = withParents(written, problems);
  problems.throwIfAny();
  return budgets;
}

/** One budget; undefined if it has a mistake. Adds its name to `names` in any case, and reports a duplicate. */
function readBudget(
  item: Given,
  input: BudgetsInput,
  { names, parents }: Named,
  problems: Problems,
): Written | undefined {
  const keys = keysOf(item, budgetRule, problems);
  if (keys === undefined) return undefined;
  const here: Place = { where: item.where, position: item.position };
  function required<T>(key: string, parse: Parse<T>, expected: string): T | undefined {
    const given = keys?.get(key);
    if (given === undefined) problems.report(here, `found no ${key}, expected ${expected}; add it`);
    return readValue(given, parse, problems);
  }
  const name = required('name', parseBudgetName, 'a name such as name: everything');
  const period = required('period', parsePeriod, `one of ${oneOf(periodKinds)}`);
  const amount = required('amount', parseUsd, 'an amount such as amount: 5000 USD');
  const timeZone = readTimeZone(keys.get('timeZone'), period, input.now, problems);
  const amountPlaces = new Map<string, Place>();
  const limits = readLimits(keys.get('limits'), period, timeZone, amountPlaces, problems);
  const notify = readNames(keys.get('notify'), sinkParser(input.sinks), 'a list of sinks', problems) ?? [];
  const thresholds = readThresholds(keys.get('thresholds'), notify, input.sinks, problems);
  const scopePlaces = new Map<string, Place>();
  const scope = readScope(keys.get('scope'), scopePlaces, problems);
  const parent = readValue(keys.get('parent'), parseBudgetName, problems);
  if (parent !== undefined) parents.push({ name: parent, place: keys.get('parent') ?? here });
  const namePlace = keys.get('name') ?? here;
  const first = name === undefined ? undefined : names.get(name);
  if (first !== undefined) {
    const line = first.position?.line;
    problems.report(namePlace, `found ${quoted(name ?? '')} a second time, first on line ${line}; rename one`);
  } else if (name !== undefined) names.set(name, namePlace);
  // Do not report consequences of a mistake.
  if (name === undefined || period === undefined || amount === undefined || timeZone === undefined) return undefined;
  return {
    budget: { name, where: item.where, scope, period, timeZone, amount, limits, parent, thresholds },
    places: {
      parent: keys.get('parent') ?? here,
      amount: keys.get('amount') ?? here,
    },
    amountPlaces,
    scopePlaces,
  };
}

const parseBudgetName: Parse<string> = (value) => {
  const text = parseText(value, 100);
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(text)) return text;
  return refuse(quoted(text), 'a name of letters, digits and . _ - without spaces');
};

const parsePeriod = choiceParser(periodKinds);
const parseSeverity = choiceParser(severities);
const parseSubject = choiceParser(thresholdSubjects);

/** `5000 USD` in trillionths of a USD. */
export const parseUsd: Parse<bigint> = (value) => {
  const found = typeof value === 'number' ? String(value) : quoted(parseText(value));
  const [, digits] = typeof value === 'string' ? (/^(\d{1,15}(?:\.\d{1,12})?) USD$/.exec(value) ?? []) : [];
  const usd = digits === undefined ? 0n : wholeOfDecimal(digits, usdDecimals);
  if (usd > 0n) return usd;
  return refuse(
    found,
    'an amount above 0 such as 5000 USD or 0.25 USD, in USD and without separators between the digits',
  );
};

function readTimeZone(
  given: Given | undefined,
  period: PeriodKind | undefined,
  now: Instant,
  problems: Problems,
): string | undefined {
  if (given === undefined) return 'UTC';
  const parse: Parse<string> = (value) => {
    const zone = parseText(value);
    calendarOf(period ?? 'monthly', zone).periodAt(now);
    // Zones with a half-hour daylight saving shift differ from UTC by whole hours for part of the year.
    const days = calendarOf('daily', zone);
    for (let month = -12; month <= 12; month += 1) days.periodAt(addCalendarMonths(now, month));
    return zone;
  };
  return readValue(given, parse, problems);
}

const periodExamples: Readonly<Record<PeriodKind, string>> = {
  daily: 'a day such as 2026-10-01',
  weekly: 'a week such as 2026-W40',
  monthly: 'a month such as 2026-10',
  quarterly: 'a quarter such as 2026-Q4',
  yearly: 'a year such as 2026',
};

function readLimits(
  given: Given | undefined,
  period: PeriodKind | undefined,
  timeZone: string | undefined,
  amountPlaces: Map<string, Place>,
  problems: Problems,
): ReadonlyMap<string, bigint> {
  const limits = new Map<string, bigint>();
  if (given === undefined) return limits;
  const expected = period === undefined ? 'a period' : periodExamples[period];
  for (const [name, entry] of entriesOf(given, `${expected} and its amount`, problems) ?? []) {
    const amount = readValue(entry, parseUsd, problems);
    try {
      if (period !== undefined && calendarOf(period, timeZone).periodNamed(name) === undefined) {
        problems.report({ ...entry, key: undefined }, `found ${quoted(name)} as a period, expected ${expected}`);
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.report(entry, error.message);
    }
    if (amount !== undefined) limits.set(name, amount);
    amountPlaces.set(name, entry);
  }
  return limits;
}

function readThresholds(
  given: Given | undefined,
  notify: readonly string[],
  sinks: readonly string[] | undefined,
  problems: Problems,
): readonly Threshold[] {
  if (given === undefined) {
    const at = parseAt('100%');
    return [
      { of: 'spent', ...at, severity: 'critical', notify },
      { of: 'forecast', ...at, severity: 'warning', notify },
    ];
  }
  const thresholds: Threshold[] = [];
  for (const item of itemsOf(given, 'a list of thresholds such as - { at: 80% }', problems)) {
    const keys = keysOf(item, thresholdRule, problems);
    if (keys === undefined) continue;
    const at = keys.get('at');
    if (at === undefined) problems.report(item, 'found no at, expected one such as at: 80% or at: 4500 USD; add it');
    const read = readValue(at, parseAt, problems);
    const of = keys.has('of') ? readValue(keys.get('of'), parseSubject, problems) : 'spent';
    const severity = readValue(keys.get('severity'), parseSeverity, problems) ?? 'warning';
    const own = readNames(keys.get('notify'), sinkParser(sinks), 'a list of sinks', problems);
    if (read === undefined || of === undefined) continue;
    if (thresholds.some((other) => other.code === read.code && other.of === of)) {
      const found = of === 'spent' ? read.code : `${read.code} of ${of}`;
      problems.report(at ?? item, `found ${found} a second time in this budget; keep one`);
    }
    thresholds.push({ of, ...read, severity, notify: own ?? notify });
  }
  return thresholds;
}

/** `80%` or `4500 USD`. */
function parseAt(value: Parameters<Parse<unknown>>[0]): Pick<Threshold, 'code' | 'at'> {
  const found = typeof value === 'number' ? String(value) : parseText(value);
  const [, percentText] = /^(\d{1,4}(?:\.\d{1,4})?)%$/.exec(found) ?? [];
  const percent = percentText === undefined ? 0n : wholeOfDecimal(percentText, percentDecimals);
  if (percent > 0n) return { code: `${shortest(percent, percentDecimals)}%`, at: { percent } };
  if (!/^\d.* USD$/.test(found)) {
    return refuse(
      quoted(found),
      'a share of the amount up to 9999%, or an amount, both above 0, such as 80%, 82.5% or 4500 USD',
    );
  }
  const usd = parseUsd(found);
  return { code: `${shortest(usd, usdDecimals)} USD`, at: { usd } };
}

export function sinkParser(sinks: readonly string[] | undefined): Parse<string> {
  return (value) => {
    const name = parseText(value, 100);
    if (sinks === undefined || sinks.includes(name)) return name;
    const guess = nearest(name, sinks);
    const known = sinks.length === 0 ? 'add it there, under sinks' : `expected ${oneOf(sinks)}`;
    throw new UsageError(
      `found the sink ${quoted(name)}, which costbook.yaml does not have; ${guess === undefined ? known : `did you mean ${guess}?`}`,
    );
  };
}
