import { moneyOf, usdDecimals } from '../../money/money.ts';
import { historyDays, oddSteps, type Steps, stepHoursOf } from '../../outlook/index.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import {
  type CalendarPeriod,
  calendarOf,
  dayMs,
  formatInstant,
  type Holidays,
  hourMs,
  type Instant,
  type PeriodKind,
  type Window,
} from '../../time/time.ts';
import type { Completeness } from '../../warehouse/ledger/index.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import {
  type AnswerCache,
  answerOf,
  type Connection,
  rowsWithOwners,
  type SqlRow,
} from '../../warehouse/store/index.ts';
import type { Budget, BudgetScope } from '../rules/budget.ts';
import { fromBooks } from '../rules/usage-unit.ts';
import { earliest, hoursBehind, scopeForSql, scopesForSql } from '../spend/spend.ts';
import { type AnomalyShares, anomaliesIn, isOfResources, partInBudget } from './anomaly-shares.ts';
import type { ForecastScope } from './forecast-rows.ts';
import { type AnomaliesKnown, anomaliesLeftOut, type KnownAnomaly } from './known-anomalies.ts';
import { type LeftOut, leftOutOf, readDayShares, type StepsCut, unusualBySteps, without } from './without-anomalies.ts';

/** A workspace and resource type without costs for this long is no longer forecast. */
const activeDays = 35;
/**
 * The longest history of a workspace and resource type: there are many of them, and choosing a model takes longer the
 * longer the history.
 */
const workspaceHistoryDays = 210;
/** The most workspaces and resource types to forecast per account: those with the highest recent costs. */
export const mostWorkspaces = 500;
/** Days that show the usual course of a day. */
const usualDays = 28;

/** The period to forecast, and the steps of its history. */
export interface ForecastWindow {
  readonly period: CalendarPeriod;
  readonly completeThrough: Instant | undefined;
  /** Undefined if nothing is complete. */
  readonly cut: Cut | undefined;
  /** The start of the books over all of its accounts. */
  readonly historyStart: Instant;
}

/** The steps of a history, up to the last complete hour. */
interface Cut {
  readonly stepHours: 1 | 24;
  /** Hours after midnight at which a daily step starts. */
  readonly align: number;
  readonly completeThrough: Instant;
}

/** The period of the first incomplete hour, over accounts that still get data. */
export function forecastWindowOf(
  kind: PeriodKind,
  calendar: ReturnType<typeof calendarOf>,
  accounts: readonly Completeness[],
  now: Instant,
): ForecastWindow {
  const completeThrough = earliest(accounts);
  const period = calendar.periodAt(completeThrough ?? now);
  const historyStart = Math.max(0, ...accounts.flatMap((account) => account.historyStart ?? []));
  const stepHours = stepHoursOf(kind);
  const align = stepHours === 1 ? 0 : Math.round(period.end / hourMs) % 24;
  const cut = completeThrough === undefined ? undefined : ({ stepHours, align, completeThrough } as const);
  return { period, completeThrough, cut, historyStart };
}

export function cutsOf(windows: readonly ForecastWindow[]): Cut[] {
  const cuts = new Map(windows.flatMap(({ cut }) => (cut === undefined ? [] : [[JSON.stringify(cut), cut] as const])));
  return [...cuts.values()];
}

/** The end of the last complete step, and the complete hours after it. */
function endOf({ stepHours, align, completeThrough }: Cut): { readonly end: Instant; readonly hours: number } {
  const hours = (Math.floor(completeThrough / hourMs) - align) % stepHours;
  return { end: completeThrough - hours * hourMs, hours };
}

/** The cost of a scope by step, or its usage. */
export interface ScopeHistory {
  readonly scope: ForecastScope;
  /** Without the unusual part of the costs. */
  readonly steps: Steps;
  /** The cost of each step as it was, USD. */
  readonly values: readonly number[];
  /** The anomalies that `steps` leave out. */
  readonly anomalies: readonly KnownAnomaly[];
  /** All anomalies in its costs, also where everything is unusual, so that `steps` leave out nothing. */
  readonly unusual: readonly KnownAnomaly[];
  /** Spend in the complete hours since the start of a step, trillionths of a USD. */
  spentFrom(start: Instant): bigint;
}

/** Costs that histories leave out. */
export interface UnusualKnown {
  readonly anomalies: AnomaliesKnown;
  /** Their parts in budgets of owners, labels and names. */
  readonly shares: AnomalyShares;
  /** Days on which everything stays. */
  readonly holidays: Holidays;
}

/** The histories of budgets and workspaces with the same steps, in one pass over the costs that are not known yet. */
export async function readHistories(
  connection: Connection,
  cut: Cut,
  ofBudgets: readonly (ForecastWindow & { readonly budget: Budget; readonly reason: string | undefined })[],
  ofAccounts: readonly (ForecastWindow & { readonly account: string })[],
  unusual: UnusualKnown,
  cache?: AnswerCache | undefined,
): Promise<ScopeHistory[]> {
  const isOurs = (window: ForecastWindow) => JSON.stringify(window.cut) === JSON.stringify(cut);
  const budgets = ofBudgets.filter((line) => isOurs(line) && line.reason === undefined);
  const accounts = ofAccounts.filter(isOurs);
  if (budgets.length + accounts.length === 0) return [];
  const isUsage = (line: { readonly budget: Budget }) => line.budget.scope.unit !== undefined;
  const ofUsage = budgets.filter(isUsage);
  // Usage is added up in a pass of its own.
  if (ofUsage.length > 0 && ofUsage.length < budgets.length + accounts.length) {
    const others = budgets.filter((line) => !isUsage(line));
    return [
      ...(await readHistories(connection, cut, others, accounts, unusual, cache)),
      ...(await readHistories(connection, cut, ofUsage, [], unusual, cache)),
    ];
  }
  const { end, hours } = endOf(cut);
  const stepMs = cut.stepHours * hourMs;
  const scopes = budgets.map(({ budget }) => budget);
  const ofScopes = await readStepsOfScopes({ connection, cut, cache }, scopes);
  const ofPlaces = accounts.length === 0 ? [] : await readStepsOfPlaces({ connection, cut, cache });
  const leftOut = await readLeftOut(connection, { ...cut, firstHours: hours }, unusual, cache);
  function historyOf(scope: ForecastScope, own: readonly StepCost[], historyStart: Instant): ScopeHistory {
    const begin = scope.kind === 'budget' ? end - historyDays[cut.stepHours] * dayMs : startOfPlaces(end);
    // The first step whose hours are all in the books.
    const start = Math.max(begin, end - Math.floor(Math.max(0, end - historyStart) / stepMs) * stepMs);
    return historyFrom(scope, own, leftOut(scope), { start, end, hours, stepHours: cut.stepHours });
  }
  function costsOfSteps(steps: readonly StepRow[], unit: string | undefined): StepCost[] {
    return steps.map(([step, cost, firstCost]) => ({
      start: (step * cut.stepHours + cut.align) * hourMs,
      cost: fromBooks(moneyOf(cost), unit),
      firstCost: fromBooks(moneyOf(firstCost), unit),
    }));
  }
  const histories = budgets.map(({ budget, historyStart }, place) =>
    historyOf({ kind: 'budget', budget }, costsOfSteps(ofScopes[place] ?? [], budget.scope.unit), historyStart),
  );
  for (const { account: name, workspace, resourceType, steps } of ofPlaces) {
    const account = accounts.find((line) => line.account === name);
    if (account === undefined) continue;
    const scope = { kind: 'workspace', account: account.account, workspace, resourceType } as const;
    histories.push(historyOf(scope, costsOfSteps(steps, undefined), account.historyStart));
  }
  return histories;
}

/** The number of a step, its cost, and the cost of its first hours: decimal text, in the unit of the books. */
type StepRow = readonly [step: number, cost: string, firstCost: string];

/** The steps of a resource type in a workspace. */
interface PlaceSteps {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly steps: StepRow[];
}

/** Where the history of workspaces starts. */
function startOfPlaces(end: Instant): Instant {
  return end - workspaceHistoryDays * dayMs;
}

/** A month of a history: the steps that start in it, through the last complete hour. */
interface HistoryMonth extends Window {
  /** The hours of a step whose cost is its first cost. Only recent steps need it. */
  readonly firstHours: number;
}

/** The months of the history of budgets, oldest first. A load leaves those known that it does not cover. Pure. */
function monthsOf(cut: Cut): HistoryMonth[] {
  const { end, hours } = endOf(cut);
  const months: HistoryMonth[] = [];
  const recentFrom = end - usualDays * dayMs;
  for (let at = cut.completeThrough - 1; at >= end - historyDays[cut.stepHours] * dayMs; ) {
    const month = calendarOf('monthly').periodAt(at - cut.align * hourMs);
    const [start, until] = [month.start, month.end].map((instant) => instant + cut.align * hourMs) as [number, number];
    months.unshift({ start, end: Math.min(until, cut.completeThrough), firstHours: until > recentFrom ? hours : 0 });
    at = start - 1;
  }
  return months;
}

/** From where steps are read, and how hours are cut into them. */
interface StepsOfBooks {
  readonly connection: Connection;
  readonly cut: Cut;
  readonly cache: AnswerCache | undefined;
}

type StepsFile = 'steps' | 'steps_by_label' | 'steps_by_owner';

function fileFor({ owner, label }: BudgetScope): StepsFile {
  if (owner !== undefined) return 'steps_by_owner';
  return label === undefined ? 'steps' : 'steps_by_label';
}

/** A month of the history of a budget. */
interface HistoryPart {
  readonly place: number;
  readonly file: StepsFile;
  readonly month: HistoryMonth;
  readonly question: unknown;
  readonly steps: StepRow[];
}

/** The steps of budgets, in order: only the months that are not known are read. */
async function readStepsOfScopes(
  books: StepsOfBooks,
  scopes: readonly Budget[],
): Promise<readonly (readonly StepRow[])[]> {
  const { cut, cache } = books;
  const months = monthsOf(cut);
  const parts: HistoryPart[] = [];
  const unknown = new Map<StepsFile, HistoryPart[]>();
  for (const [place, { scope }] of scopes.entries()) {
    const file = fileFor(scope);
    const text = await readSql('forecasts', file);
    for (const month of months) {
      const question = [text, cut.stepHours, cut.align, month, scopeForSql(scope)];
      const known = await cache?.find('steps', question, hoursBehind(scope, month));
      const part = { place, file, month, question, steps: (known?.answer ?? []) as StepRow[] };
      parts.push(part);
      if (known === undefined) unknown.set(file, [...(unknown.get(file) ?? []), part]);
    }
  }
  for (const of of unknown.values()) {
    await readParts(books, { months, scopes }, of);
    for (const { question, steps } of of) cache?.add('steps', question, steps);
  }
  const first = (endOf(cut).end / hourMs - cut.align - historyDays[cut.stepHours] * 24) / cut.stepHours;
  const steps = scopes.map((): StepRow[] => []);
  for (const part of parts) steps[part.place]?.push(...part.steps.filter(([step]) => step >= first));
  return steps;
}

/** Reads months of histories, in one pass from the first to the last. */
async function readParts(
  books: StepsOfBooks,
  { months, scopes }: { readonly months: readonly HistoryMonth[]; readonly scopes: readonly Budget[] },
  parts: readonly HistoryPart[],
): Promise<void> {
  const byPlace = new Map(parts.map((part) => [`${part.place} ${part.month.start}`, part]));
  const places = [...new Set(parts.map(({ place }) => place))];
  const rows = await readSteps(books, parts[0]?.file ?? 'steps', {
    scopes: places.flatMap((place) => scopes[place] ?? []),
    start: Math.min(...parts.map(({ month }) => month.start)),
    end: Math.max(...parts.map(({ month }) => month.end)),
    withWorkspaces: false,
  });
  for (const row of rows) {
    const [step, cost, firstCost] = stepOf(row);
    const at = (step * books.cut.stepHours + books.cut.align) * hourMs;
    const month = months.findLast(({ start }) => start <= at);
    const part = byPlace.get(`${places[Number(row['scope'])]} ${month?.start}`);
    part?.steps.push([step, cost, part.month.firstHours === 0 ? '0' : firstCost]);
  }
}

/** The steps of all workspaces. */
async function readStepsOfPlaces(books: StepsOfBooks): Promise<readonly PlaceSteps[]> {
  const { cut, cache } = books;
  const text = await readSql('forecasts', 'steps');
  return answerOf(cache, 'places', [text, cut, workspaceHistoryDays, activeDays, mostWorkspaces], async () => {
    const span = { start: startOfPlaces(endOf(cut).end), end: cut.completeThrough };
    const places = new Map<string, PlaceSteps>();
    for (const row of await readSteps(books, 'steps', { scopes: [], ...span, withWorkspaces: true }))
      addToPlace(places, row);
    return [...places.values()];
  });
}

async function readSteps(
  { connection, cut, cache }: StepsOfBooks,
  file: StepsFile,
  {
    scopes,
    start,
    end,
    withWorkspaces,
  }: Window & { readonly scopes: readonly Budget[]; readonly withWorkspaces: boolean },
): Promise<SqlRow[]> {
  const last = endOf(cut);
  const given = {
    scopes: scopesForSql(scopes),
    align: cut.align,
    step_hours: cut.stepHours,
    first_hours: last.hours,
    from: formatInstant(start),
    to: formatInstant(end),
    of_usage: scopes.some(({ scope }) => scope.unit !== undefined),
  };
  const ofWorkspaces = {
    with_workspaces: withWorkspaces,
    active_from: formatInstant(last.end - activeDays * dayMs),
    most: mostWorkspaces,
  };
  const asked = file === 'steps' ? { ...given, ...ofWorkspaces } : given;
  return rowsWithOwners(connection, cache, ['forecasts', file], asked);
}

function stepOf(row: SqlRow): StepRow {
  return [Number(row['step']), String(row['cost']), String(row['first_cost'])];
}

function addToPlace(places: Map<string, PlaceSteps>, row: SqlRow): void {
  const [account, workspace, resourceType] = [row['account'], row['workspace'], row['resource_type']].map(textOrNull);
  const key = JSON.stringify([account, workspace, resourceType]);
  const own = places.get(key) ?? {
    ...{ account: String(account), workspace: workspace ?? null, resourceType: resourceType ?? null },
    steps: [],
  };
  places.set(key, own);
  own.steps.push(stepOf(row));
}

/** What is unusual in the costs of each scope through the last complete hour, by place. */
async function readLeftOut(
  connection: Connection,
  cut: Cut & StepsCut,
  { anomalies, shares, holidays }: UnusualKnown,
  cache: AnswerCache | undefined,
): Promise<(scope: ForecastScope) => readonly LeftOut[]> {
  const known = anomaliesLeftOut(anomalies, cut.completeThrough);
  const ofDays = await readDayShares(connection, cut, known, cache);
  const whole = leftOutOf(known, ofDays, cut, holidays);
  return (scope) => {
    if (scope.kind === 'budget' && isOfResources(scope.budget.scope)) {
      return leftOutOf(anomaliesIn(scope.budget, known, shares), ofDays, cut, holidays);
    }
    return whole.filter(({ place }) =>
      scope.kind === 'budget'
        ? partInBudget(scope.budget, { ...place, key: '' }) > 0
        : scope.account === place.account &&
          scope.workspace === place.workspace &&
          scope.resourceType === place.resourceType,
    );
  };
}

/** The history of a scope from its costs, with and without what is unusual in them. Pure. */
function historyFrom(
  scope: ForecastScope,
  own: readonly StepCost[],
  leftOut: readonly LeftOut[],
  { start, end, hours, stepHours }: Window & { readonly hours: number; readonly stepHours: 1 | 24 },
): ScopeHistory {
  const stepMs = stepHours * hourMs;
  function valuesOf(costs: readonly StepCost[]): number[] {
    const values = new Array<number>(Math.round((end - start) / stepMs)).fill(0);
    for (const { start: at, cost } of costs) {
      const place = Math.round((at - start) / stepMs);
      if (place >= 0 && place < values.length) values[place] = Number(cost) / 10 ** usdDecimals;
    }
    return values;
  }
  const usual = withoutUnusual(own, leftOut);
  const [ownValues, usualValues] = [valuesOf(own), valuesOf(usual)];
  // If all of it is unusual, nothing else says what it will cost.
  const isUsual = leftOut.length > 0 && usualValues.some((value) => value !== 0);
  const values = isUsual ? usualValues : ownValues;
  // One charge in the first hours of a day does not make the other days begin so.
  const odd = oddSteps(values, stepHours);
  const recent = (isUsual ? usual : own).filter(
    ({ start: at }) => at < end && at >= end - usualDays * dayMs && !odd.has(Math.round((at - start) / stepMs)),
  );
  const beginning = { hours, share: hours === 0 ? 0 : shareOfFirst(recent, hours / stepHours) };
  const unusual = leftOut.flatMap(({ anomalies }) => anomalies);
  return {
    scope,
    steps: { start, end, stepHours, values, beginning },
    values: ownValues,
    anomalies: isUsual ? unusual : [],
    unusual,
    spentFrom: (since) => own.reduce((sum, { start: at, cost }) => (at >= since ? sum + cost : sum), 0n),
  };
}

/** Costs by step without what is unusual in them. */
function withoutUnusual(own: readonly StepCost[], leftOut: readonly LeftOut[]): readonly StepCost[] {
  if (leftOut.length === 0) return own;
  const unusual = unusualBySteps(leftOut);
  const known = new Set(own.map(({ start }) => start));
  const none = [...unusual.keys()]
    .filter((start) => !known.has(start))
    .map((start) => ({ start, cost: 0n, firstCost: 0n }));
  return [...own, ...none].map((step) => {
    const { cost, firstCost } = unusual.get(step.start) ?? { cost: 0, firstCost: 0 };
    return {
      start: step.start,
      cost: cost === 0 ? step.cost : wholeWithout(step.cost, cost),
      firstCost: firstCost === 0 ? step.firstCost : wholeWithout(step.firstCost, firstCost),
    };
  });
}

function wholeWithout(cost: bigint, unusual: number): bigint {
  return BigInt(Math.round(without(Number(cost), unusual * 10 ** usdDecimals)));
}

interface StepCost {
  readonly start: Instant;
  /** Trillionths of the scope's unit, like the next field. */
  readonly cost: bigint;
  readonly firstCost: bigint;
}

/** The share of the steps' cost in their first hours; `otherwise` if they cost nothing. */
function shareOfFirst(steps: readonly StepCost[], otherwise: number): number {
  const sum = (limits: readonly bigint[]) => Number(limits.reduce((total, amount) => total + amount, 0n));
  const whole = sum(steps.map(({ cost }) => cost));
  const share = whole > 0 ? sum(steps.map(({ firstCost }) => firstCost)) / whole : otherwise;
  return Math.min(1, Math.max(0, share));
}
