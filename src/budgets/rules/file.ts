import { basename, join } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import { severities } from '../../base/severity.ts';
import { usdUnit } from '../../money/money.ts';
import { nearest, oneOf, quoted } from '../../text/choices.ts';
import type { FiscalYear } from '../../time/fiscal-year.ts';
import {
  addCalendarMonths,
  calendarOf,
  type Instant,
  isFiscal,
  type PeriodKind,
  periodKinds,
} from '../../time/time.ts';
import {
  choiceParser,
  type Given,
  gatherProblems,
  integerParser,
  itemsOf,
  keysOf,
  type Parse,
  type Place,
  type Problems,
  parseText,
  parseYaml,
  readValue,
  readYamlFile,
} from '../../yaml/index.ts';
import { type Budget, type Threshold, thresholdSubjects } from './budget.ts';
import { readPer } from './counts.ts';
import { budgetRule, thresholdRule, topRule } from './file-keys.ts';
import { type Named, reportUnknownParents, type Written, withParents } from './parents.ts';
import { hundredPercent } from './planned-amount.ts';
import { type AmountRead, listIn, type PeriodsGiven, parseShare, readAmount, shareIn } from './read-amount.ts';
import { readChanges } from './read-changes.ts';
import { readFiscalYear } from './read-fiscal-year.ts';
import { readParts, scopeOfParts } from './read-parts.ts';
import { readNames, readScope, refuse } from './read-scope.ts';
import { budgetNamePattern, kindOfPeriod, readTable, type TableBudget, tableSteps } from './table.ts';
import { unitOfBooks, unitOfDimension } from './usage-unit.ts';

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

/**
 * Parses budgets, and the table of amounts next to the file that it names. Throws one UsageError that lists every problem,
 * one per line, by position.
 */
export function parseBudgets(input: BudgetsInput): readonly Budget[] {
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(input.text, input.file, problems);
  const top = isSound && root.value !== null ? keysOf(root, topRule, problems) : undefined;
  const list = top?.get('budgets');
  const fiscalYear = readFiscalYear(top?.get('fiscalYear'), problems);
  const table = readTable(top?.get('table'), input.file, problems);
  const given = list ? itemsOf(list, 'a list of budgets such as - name: everything', problems) : [];
  const reading: Reading = {
    input,
    fiscalYear: { given: top?.has('fiscalYear') ?? false, year: fiscalYear },
    table,
    named: { names: new Map(), parents: [] },
    problems,
  };
  const written = given.flatMap((item) => readBudget(item, reading) ?? []);
  for (const [name, budget] of table) {
    if (!reading.named.names.has(name)) written.push(...(tableBudget(name, budget, reading) ?? []));
  }
  reportUnknownParents(reading.named.parents, [...reading.named.names.keys()], problems);
  const changes = readChanges(top?.get('changes'), problems);
  const budgets = withParents(written, input.now, problems);
  problems.throwIfAny();
  return changes.length === 0 ? budgets : budgets.map((budget) => ({ ...budget, changes }));
}

/** What every budget of a file is read with. */
interface Reading {
  readonly input: BudgetsInput;
  readonly fiscalYear: { readonly given: boolean; readonly year: FiscalYear | undefined };
  readonly table: ReadonlyMap<string, TableBudget>;
  readonly named: Named;
  readonly problems: Problems;
}

/** One budget; undefined if it has a mistake. Adds its name to `named` in any case, and reports a duplicate. */
function readBudget(item: Given, reading: Reading): Written | undefined {
  const { input, named, problems } = reading;
  const keys = keysOf(item, budgetRule, problems);
  if (keys === undefined) return undefined;
  const here: Place = { where: item.where, file: item.file, position: item.position };
  const name = required(keys, 'name', parseBudgetName, 'a name such as name: everything', here, problems);
  const period = readKind(keys, here, reading);
  const fiscalYear = reading.fiscalYear.year;
  const timeZone = readTimeZone(keys.get('timeZone'), { period, fiscalYear }, input.now, problems);
  const ofTable = name === undefined ? undefined : reading.table.get(name);
  const amounts = amountsOf(keys, { period, timeZone, fiscalYear }, ofTable, here, problems);
  const { unit } = amounts;
  const per = readPer(keys.get('per'), { period, timeZone, fiscalYear }, input.file, problems);
  if (keys.has('per')) reportWithPer(keys, unit, problems);
  const notify = readNames(keys.get('notify'), sinkParser(input.sinks), 'a list of sinks', problems) ?? [];
  const thresholds = readThresholds(
    keys.get('thresholds'),
    { unit, notify, sinks: input.sinks, hasForecast: !keys.has('per') },
    problems,
  );
  const scopePlaces = new Map<string, Place>();
  const own = readScope(keys.get('scope'), scopePlaces, problems);
  const parts = readParts(keys.get('parts'), parseBudgetName, problems);
  const scope = keys.has('scope') || parts.length === 0 ? own : scopeOfParts(parts);
  if (scope === undefined) {
    problems.report(
      keys.get('parts') ?? here,
      'found parts that differ in more than one key, and no scope; add a scope that includes all parts',
    );
  }
  const parent = readValue(keys.get('parent'), parseBudgetName, problems);
  if (parent !== undefined) named.parents.push({ name: parent, place: keys.get('parent') ?? here });
  addName(name, keys.get('name') ?? here, reading);
  const counted = scope && unit !== usdUnit ? { ...scope, unit } : scope;
  reportOtherUnits(unit, scope?.billing_dimension, scopePlaces.get('billing_dimension') ?? here, problems);
  // Do not report consequences of a mistake.
  const { amount, limits, steps, growth, rollover, limitPlaces } = amounts;
  if (name === undefined || period === undefined || amount === undefined || timeZone === undefined) return undefined;
  if (counted === undefined) return undefined;
  const fiscal = isFiscal(period) ? { fiscalYear } : {};
  if (keys.has('per') && per === undefined) return undefined;
  const finer = growth && per ? { ...growth, decimals: 6 } : growth;
  const rest = { steps, growth: finer, limits, rollover, parent, thresholds, ...(per === undefined ? {} : { per }) };
  return {
    budget: {
      name,
      where: item.where,
      ...tableOf(ofTable),
      scope: counted,
      period,
      ...fiscal,
      timeZone,
      amount,
      ...rest,
    },
    places: {
      parent: keys.get('parent') ?? here,
      amount: keys.get('amount') ?? listIn(keys.get('limits')) ?? ofTable?.place ?? here,
    },
    amountPlaces: limitPlaces,
    scopePlaces,
    parts,
  };
}

/** What a budget for a cost per unit cannot have. */
function reportWithPer(keys: ReadonlyMap<string, Given>, unit: string, problems: Problems): void {
  const reasons = {
    rollover: 'nothing of a cost per unit can be left over',
    parts: 'the costs per unit of parts do not add up',
    parent: 'costs per unit do not add up to that of a parent',
  };
  for (const [key, reason] of Object.entries(reasons)) {
    const given = keys.get(key);
    if (given !== undefined && given.value !== false) {
      problems.report(given, `found ${key} together with per; ${reason}; remove one of the two`);
    }
  }
  const given = keys.get('amount');
  if (unit !== usdUnit && given) problems.report(given, `found ${unit}, expected USD, because per divides costs`);
}

/** A billing dimension in another unit than its budget would never count. */
function reportOtherUnits(unit: string, dimensions: readonly string[] = [], place: Place, problems: Problems): void {
  if (unit === usdUnit) return;
  for (const name of dimensions) {
    const own = unitOfDimension(name);
    if (own === undefined || own === unitOfBooks(unit)) continue;
    problems.report(
      place,
      `found ${quoted(name)}, which is metered in ${own}, expected a dimension in ${unitOfBooks(unit)}`,
    );
  }
}

function required<T>(
  keys: ReadonlyMap<string, Given>,
  key: string,
  parse: Parse<T>,
  expected: string,
  here: Place,
  problems: Problems,
): T | undefined {
  const given = keys.get(key);
  if (given === undefined) problems.report(here, `found no ${key}, expected ${expected}; add it`);
  return readValue(given, parse, problems);
}

function addName(name: string | undefined, place: Place, { named: { names }, problems }: Reading): void {
  const first = name === undefined ? undefined : names.get(name);
  if (first !== undefined) {
    const line = first.position?.line;
    problems.report(place, `found ${quoted(name ?? '')} a second time, first on line ${line}; rename one`);
  } else if (name !== undefined) names.set(name, place);
}

/** The kind of period; undefined if it has a mistake, or needs a fiscal year that the file does not define. */
function readKind(
  keys: ReadonlyMap<string, Given>,
  here: Place,
  { fiscalYear, problems }: Reading,
): PeriodKind | undefined {
  const kind = required(keys, 'period', parsePeriod, `one of ${oneOf(periodKinds)}`, here, problems);
  if (kind === undefined || !isFiscal(kind) || fiscalYear.year !== undefined) return kind;
  if (!fiscalYear.given) problems.report(keys.get('period') ?? here, `found ${kind}, ${needsFiscalYear}`);
  return undefined;
}

const needsFiscalYear =
  'which needs the fiscal year; add a line such as fiscalYear: { start: april } at the top of the file';

/** The amounts of a budget: those of the file, and those of the table. */
function amountsOf(
  keys: ReadonlyMap<string, Given>,
  periods: PeriodsGiven,
  ofTable: TableBudget | undefined,
  here: Place,
  problems: Problems,
): AmountRead {
  const amounts = readAmount(keys, periods, problems);
  const list = listIn(keys.get('limits'));
  const hasAmount = keys.has('amount') || list !== undefined;
  if (!hasAmount && ofTable === undefined) {
    problems.report(here, 'found no amount, expected an amount such as amount: 5000 USD; add it');
  }
  const growing = keys.get('growth');
  if (growing !== undefined && !hasAmount) {
    problems.report(growing, 'found growth without amount, which is the amount of the first period; add it');
  }
  if (ofTable === undefined) return amounts;
  if (amounts.unit !== usdUnit) {
    problems.report(
      keys.get('amount') ?? here,
      `found ${amounts.unit}, but the table has USD of this budget (${ofTable.place.where}); write its amounts as limits here`,
    );
  }
  const limits = keys.get('limits');
  if (limits !== undefined) {
    problems.report(
      limits,
      `found limits, but the table has amounts of this budget (${ofTable.place.where}); remove one of the two`,
    );
  }
  const steps = tableSteps(ofTable, periods, keys.has('per'), problems);
  if (!hasAmount) return { ...amounts, steps, amount: steps[0]?.amount };
  return {
    ...amounts,
    limits: new Map(steps.map(({ name, amount }) => [name, amount])),
    limitPlaces: new Map(steps.map(({ name, place }) => [name, place])),
  };
}

/** The file of a budget whose amounts are in the table. */
function tableOf(table: TableBudget | undefined): Pick<Budget, 'amountFile'> {
  return table === undefined ? {} : { amountFile: `jobs/${basename(table.place.where).replace(/:\d+$/, '')}` };
}

/** A budget that only the table has: its periods follow from their names, and it has the usual thresholds. */
function tableBudget(name: string, table: TableBudget, reading: Reading): Written[] {
  const { problems, named } = reading;
  named.names.set(name, table.place);
  if (table.parent !== undefined) named.parents.push({ name: table.parent, place: table.place });
  const [first] = table.rows;
  if (first === undefined) return [];
  const period = kindOfPeriod(first.period);
  if (period === undefined)
    problems.report(
      first.place,
      `found ${quoted(first.period)} as a period, expected one such as 2026-10, 2026-Q4 or FY2027-P03`,
    );
  const fiscalYear = reading.fiscalYear.year;
  const isWithoutYear = period !== undefined && isFiscal(period) && fiscalYear === undefined;
  if (isWithoutYear && !reading.fiscalYear.given)
    problems.report(first.place, `found ${first.period}, ${needsFiscalYear}`);
  if (period === undefined || isWithoutYear) return [];
  const steps = tableSteps(table, { period, timeZone: 'UTC', fiscalYear }, false, problems);
  const amount = steps[0]?.amount;
  if (amount === undefined) return [];
  const { place, scope, scopePlaces, parent } = table;
  const fiscal = isFiscal(period) ? { fiscalYear } : {};
  const thresholds = readThresholds(
    undefined,
    { unit: usdUnit, notify: [], sinks: undefined, hasForecast: true },
    problems,
  );
  const dates = { period, ...fiscal, timeZone: 'UTC', amount, steps, limits: new Map<string, bigint>() };
  return [
    {
      budget: { name, where: place.where, ...tableOf(table), scope, ...dates, parent, thresholds },
      places: { parent: place, amount: place },
      amountPlaces: new Map(),
      scopePlaces,
      parts: [],
    },
  ];
}

const parseBudgetName: Parse<string> = (value) => {
  const text = parseText(value, 100);
  if (budgetNamePattern.test(text)) return text;
  return refuse(quoted(text), 'a name of letters, digits and . _ - without spaces');
};

const parsePeriod = choiceParser(periodKinds);
const parseSeverity = choiceParser(severities);
const parseSubject = choiceParser(thresholdSubjects);

function readTimeZone(
  given: Given | undefined,
  { period = 'monthly', fiscalYear }: Pick<PeriodsGiven, 'period' | 'fiscalYear'>,
  now: Instant,
  problems: Problems,
): string | undefined {
  if (given === undefined) return 'UTC';
  const parse: Parse<string> = (value) => {
    const zone = parseText(value);
    calendarOf(period, zone, fiscalYear).periodAt(now);
    // Zones with a half-hour daylight saving shift differ from UTC by whole hours for part of the year, for months.
    const days = calendarOf('daily', zone);
    for (let month = -12; month <= 12; month += 3) days.periodAt(addCalendarMonths(now, month));
    return zone;
  };
  return readValue(given, parse, problems);
}

/** Whether a threshold is written as plain text: `80%` means `{ at: 80% }`. */
function isShorthand({ value }: Given): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function readThresholds(
  given: Given | undefined,
  {
    unit,
    notify,
    sinks,
    hasForecast,
  }: {
    readonly unit: string;
    readonly hasForecast: boolean;
    readonly notify: readonly string[];
    readonly sinks: readonly string[] | undefined;
  },
  problems: Problems,
): readonly Threshold[] {
  if (given === undefined) {
    const at = parseShare('100%');
    const spent = { of: 'spent', ...at, severity: 'critical', notify } as const;
    return hasForecast ? [spent, { ...spent, of: 'forecast', severity: 'warning' }] : [spent];
  }
  const thresholds: Threshold[] = [];
  for (const item of itemsOf(given, 'a list of thresholds such as - { at: 80% }', problems)) {
    const keys = isShorthand(item) ? new Map([['at', item]]) : keysOf(item, thresholdRule, problems);
    if (keys === undefined) continue;
    const at = keys.get('at');
    if (at === undefined) problems.report(item, 'found no at, expected one such as at: 80% or at: 4500 USD; add it');
    const read = readValue(at, shareIn(unit, !hasForecast), problems);
    const of = keys.has('of') ? readValue(keys.get('of'), parseSubject, problems) : 'spent';
    if (of === 'forecast' && !hasForecast) {
      problems.report(keys.get('of') ?? item, 'found forecast, but a cost per unit has no forecast; remove it');
    }
    const isWhole = of === 'spent' && read !== undefined && 'percent' in read.at && read.at.percent >= hundredPercent;
    const ownSeverity = readValue(keys.get('severity'), parseSeverity, problems);
    const severity = ownSeverity ?? (isWhole ? 'critical' : 'warning');
    const own = readNames(keys.get('notify'), sinkParser(sinks), 'a list of sinks', problems);
    const run = readRun(keys, problems);
    if (read === undefined || of === undefined) continue;
    if (thresholds.some((other) => other.code === read.code && other.of === of)) {
      const found = of === 'spent' ? read.code : `${read.code} of ${of}`;
      problems.report(at ?? item, `found ${found} a second time in this budget; keep one`);
    }
    const isUsual = ownSeverity === undefined && of === 'spent' && !isWhole;
    const usual = isUsual ? { isUsualSeverity: true as const } : {};
    thresholds.push({ of, ...read, severity, ...usual, notify: own ?? notify, ...(run === undefined ? {} : { run }) });
  }
  return thresholds;
}

const usualTimeLimit = 60;

/** The command of a threshold: a program and its arguments, without a shell. */
function readRun(keys: ReadonlyMap<string, Given>, problems: Problems): Threshold['run'] {
  const given = keys.get('run');
  const limit = keys.get('timeLimitSeconds');
  const timeLimitSeconds = readValue(limit, integerParser(1, 900), problems) ?? usualTimeLimit;
  if (given === undefined) {
    if (limit !== undefined) problems.report(limit, 'found timeLimitSeconds without run; add run, or remove it');
    return undefined;
  }
  const items = itemsOf(given, 'a program and its arguments such as [./stop.sh, sandboxes]', problems);
  const argv = items.flatMap((item) => readValue(item, parseArgument, problems) ?? []);
  return argv.length === items.length && argv.length > 0 ? { argv, timeLimitSeconds } : undefined;
}

const parseArgument: Parse<string> = (value) => {
  const text = parseText(value, 1000);
  return text.includes('\0') ? refuse('a null character', 'an argument without one') : text;
};

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
