import { restName } from '../charts/index.ts';
import { decimalOfWhole, moneyOf, moneyText, rounded, usdDecimals, wholeOfDecimal } from '../money/money.ts';
import { textOrNull } from '../tables/optional-text.ts';
import { addCalendarMonths, dayMs, floorMonth, formatInstant, hourMs, type Instant } from '../time/time.ts';
import type { BooksView } from './books/index.ts';
import {
  type Choice,
  type Dimension,
  type Filters,
  isOverTime,
  partsOf,
  pointerTo,
  sharedOwner,
  valueWords,
} from './dimensions.ts';
import { shownExplore } from './shown-explore.ts';

export const steps = ['hour', 'day', 'week', 'month'] as const;
export type Step = (typeof steps)[number];

/** What is shown: USD, usage in one unit, or USD per unit. */
export const measures = ['cost', 'usage', 'price'] as const;
export type Measure = (typeof measures)[number];

export interface ExploreQuestion {
  readonly from: Instant;
  readonly to: Instant;
  /** The window to compare with, before `from`; none by default. */
  readonly before?: { readonly from: Instant; readonly to: Instant } | undefined;
  readonly step: Step;
  readonly groupBy: Dimension;
  /** How many groups are shown by name; the rest is one series. */
  readonly top: number;
  readonly filters: Filters;
  /** What the largest groups are chosen by, and what is drawn; cost by default. */
  readonly measure?: Measure | undefined;
  /** Whether the groups whose cost changed most are chosen. */
  readonly byChange?: boolean;
}

/** GroupCosts of one group in one window. */
export interface GroupCosts {
  /** USD as exact decimal text, one per bucket; undefined where there is no cost. */
  readonly costs: readonly (string | undefined)[];
  readonly usages: readonly (string | undefined)[];
  /** USD as exact decimal text; undefined if the group has no cost in this window. */
  readonly total: string | undefined;
  /** Usage as exact decimal text; undefined if it is of several billing dimensions or none. */
  readonly usage: string | undefined;
  /** Whether the last bucket has the costs of several: those of a window before that is longer. */
  readonly isLonger?: true;
}

export interface ExploredSeries extends GroupCosts {
  readonly name: string;
  /** The value as stored, '' for none; undefined for the rest. */
  readonly key: string | undefined;
  readonly isRest: boolean;
  readonly unit: string | undefined;
  /** The measure for drawing. */
  readonly values: readonly (number | null)[];
  /** The measure as exact decimal text, as `values`. */
  readonly texts: readonly (string | undefined)[];
  /** USD as exact decimal text. */
  readonly total: string;
  /** The window before. Its buckets are counted from its own start. */
  readonly before: GroupCosts;
}

export interface Explored {
  /** The start of each bucket, as `2026-10-04T00:00:00Z`. */
  readonly labels: readonly string[];
  /** The largest first, the rest last. */
  readonly series: readonly ExploredSeries[];
  /** How many groups there are, with those in the rest. */
  readonly groups: number;
  /** USD as exact decimal text. */
  readonly total: string;
  /** USD of the window before. */
  readonly totalBefore: string;
  /** The question as a person can run it. */
  readonly sql: string;
}

interface Found {
  readonly key: string;
  readonly isRest: boolean;
  /** What its usage is in: a unit and a billing dimension each; '' where that is unknown or mixed. */
  readonly units: Set<string>;
  unit: string | undefined;
  readonly now: Amounts;
  readonly before: Amounts;
}

interface Amounts {
  readonly costs: (string | undefined)[];
  readonly usages: (string | undefined)[];
  isLonger?: true;
}

/** Cost and usage by bucket and one dimension. */
export async function readExplored(view: BooksView, question: ExploreQuestion): Promise<Explored> {
  const { from, to, step, groupBy, before, measure = 'cost' } = question;
  const rows = await view.rows(needsStates(question) ? 'explore_states' : 'explore', valuesOf(question));
  const starts = bucketsOf(from, to, step);
  const places = placesOf(starts);
  const placesBefore = placesOf(before === undefined ? [] : bucketsOf(before.from, before.to, step));
  const byPlace = new Map<number, Found>();
  let groups = 0;
  for (const row of rows) {
    groups = Number(row['all_groups']);
    const place = Number(row['place']);
    const found = byPlace.get(place) ?? {
      key: row['is_shared'] === true ? sharedOwner : String(row['key'] ?? ''),
      ...{ isRest: row['is_rest'] === true, units: new Set<string>(), unit: undefined },
      ...{ now: { costs: [], usages: [] }, before: { costs: [], usages: [] } },
    };
    byPlace.set(place, found);
    const unit = textOrNull(row['unit']);
    found.units.add(unit == null ? '' : JSON.stringify([unit, row['billing_dimension']]));
    found.unit = unit ?? undefined;
    const isBefore = row['is_before'] === true;
    const index = (isBefore ? placesBefore : places).get(String(row['bucket']));
    const amounts = isBefore ? found.before : found.now;
    if (index === undefined) continue;
    // The window before may have more buckets, as January has beside February: its last place has all that are left.
    if (index >= starts.length) amounts.isLonger = true;
    const at = Math.min(index, starts.length - 1);
    amounts.costs[at] = sum([amounts.costs[at], String(row['cost'])]);
    if (row['usage'] !== null) amounts.usages[at] = sumOf([amounts.usages[at], String(row['usage'])], usageDecimals);
  }
  const unsorted = [...byPlace.values()].map((found): ExploredSeries => {
    const { key, isRest, units } = found;
    const unit = units.size === 1 ? found.unit : undefined;
    const now = amountsOf(found.now, starts.length, units);
    const texts = now.costs.map((cost, index) => measured(measure, cost, now.usages[index]));
    return {
      name: isRest ? `${restName} (${groups - byPlace.size + 1})` : valueWords(groupBy, key),
      ...{ key: isRest ? undefined : key, isRest, texts, unit },
      ...{ ...now, total: now.total ?? sum([]), before: amountsOf(found.before, starts.length, units) },
      values: texts.map((text) => (text === undefined ? null : Number(text))),
    };
  });
  const series = inOrder(unsorted, measure);
  return {
    ...{ series, groups, labels: starts.map((start) => formatInstant(start)), sql: await shownExplore(question) },
    total: sum(series.map(({ total }) => total)),
    totalBefore: sum(series.map(({ before: { total } }) => total)),
  };
}

/** The largest first, those of the window before alone after them, the rest last. */
function inOrder(series: readonly ExploredSeries[], measure: Measure): readonly ExploredSeries[] {
  const size = ({ total, usage, costs }: ExploredSeries) =>
    costs.every((cost) => cost === undefined)
      ? Number.NEGATIVE_INFINITY
      : Number((measure === 'usage' ? usage : total) ?? 0);
  return series.toSorted((a, b) => Number(a.isRest) - Number(b.isRest) || compareNumbers(size(b), size(a)));
}

function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function placesOf(starts: readonly Instant[]): Map<string, number> {
  return new Map(starts.map((start, index) => [formatInstant(start), index]));
}

function amountsOf({ costs, usages, isLonger }: Amounts, count: number, units: ReadonlySet<string>): GroupCosts {
  const isOfOneUnit = units.size === 1 && !units.has('');
  const has = costs.some((cost) => cost !== undefined);
  return {
    costs: Array.from({ length: count }, (_, index) => costs[index]),
    usages: Array.from({ length: count }, (_, index) => (isOfOneUnit ? usages[index] : undefined)),
    total: has ? sum(costs) : undefined,
    usage: has && isOfOneUnit ? sumOf(usages, usageDecimals) : undefined,
    ...(isLonger === undefined ? {} : { isLonger }),
  };
}

/** Decimals of usage in the books. */
export const usageDecimals = 6;

function measured(measure: Measure, cost: string | undefined, usage: string | undefined): string | undefined {
  if (measure === 'cost') return cost;
  return measure === 'usage' ? usage : unitPrice(cost, usage);
}

/** USD per unit with twelve decimals; undefined without usage. */
export function unitPrice(cost: string | undefined, usage: string | undefined): string | undefined {
  if (cost === undefined || usage === undefined) return undefined;
  const divisor = wholeOfDecimal(usage, usageDecimals);
  if (divisor <= 0n) return undefined;
  return moneyText(rounded(moneyOf(cost) * 10n ** BigInt(usageDecimals), divisor));
}

/** Whether a question is about what changes over time for one series. */
function needsStates({ groupBy, filters }: ExploreQuestion): boolean {
  return isOverTime(groupBy) || Object.keys(filters).some(isOverTime);
}

/** The values that the statements bind. */
function valuesOf(question: ExploreQuestion): Record<string, string | number | null> {
  const { from, to, step, groupBy, top, filters, before = { from, to: from } } = question;
  const measure = question.byChange === true ? 'change' : (question.measure ?? 'cost');
  const [kind, name] = partsOf(groupBy);
  const bound = {
    ...{ from: formatInstant(from), to: formatInstant(to), step, top, measure },
    ...{ before_from: formatInstant(before.from), before_to: formatInstant(before.to) },
    ...{ from_day: wholeDays({ from, to }, step).from, to_day: wholeDays({ from, to }, step).to },
    ...{ before_from_day: wholeDays(before, step).from, before_to_day: wholeDays(before, step).to },
    group_by: kind === 'owner' && name !== undefined ? 'owner_part' : kind,
    filters: JSON.stringify(Object.entries(filters).map(boundFilter)),
  };
  return needsStates(question) ? { ...bound, group_pointer: name === undefined ? '' : pointerTo(name) } : bound;
}

/** A filter as the statements read it: shared costs are no text. */
function boundFilter([dimension, { values, isExcept }]: [Dimension, Choice]) {
  const [of, part] = partsOf(dimension);
  return {
    of: of === 'owner' && part !== undefined ? 'owner_part' : of,
    pointer: pointerTo(part ?? ''),
    listed: values.filter((value) => value !== sharedOwner),
    has_shared: values.includes(sharedOwner),
    is_except: isExcept,
  };
}

/** The whole days of a window, which are summed in advance: none if hours are asked for. */
function wholeDays(
  { from, to }: { readonly from: Instant; readonly to: Instant },
  step: Step,
): { readonly from: string; readonly to: string } {
  const [start, end] = [Math.ceil(from / dayMs) * dayMs, Math.floor(to / dayMs) * dayMs];
  const has = step !== 'hour' && start < end;
  return { from: formatInstant(has ? start : to), to: formatInstant(has ? end : to) };
}

/** The exact sum of USD amounts. */
export function sum(costs: readonly (string | undefined)[]): string {
  return sumOf(costs, usdDecimals);
}

/** The exact sum of decimals. */
export function sumOf(texts: readonly (string | undefined)[], decimals: number): string {
  let whole = 0n;
  for (const text of texts) if (text !== undefined) whole += wholeOfDecimal(text, decimals);
  return decimalOfWhole(whole, decimals);
}

/** The starts of the buckets that a window touches. Weeks start on Monday. */
export function bucketsOf(from: Instant, to: Instant, step: Step): Instant[] {
  const starts: Instant[] = [];
  for (let start = floorTo(from, step); start < to; start = nextOf(start, step)) starts.push(start);
  return starts;
}

// 1970-01-05 was a Monday.
const firstMonday = 4 * dayMs;

export function floorTo(at: Instant, step: Step): Instant {
  if (step === 'month') return floorMonth(at);
  if (step === 'week') return Math.floor((at - firstMonday) / (7 * dayMs)) * 7 * dayMs + firstMonday;
  const length = step === 'hour' ? hourMs : dayMs;
  return Math.floor(at / length) * length;
}

export function nextOf(start: Instant, step: Step): Instant {
  if (step === 'month') return addCalendarMonths(start, 1);
  return start + (step === 'week' ? 7 * dayMs : step === 'day' ? dayMs : hourMs);
}
