import { type TimeShape, timeShapes } from '../charts/index.ts';
import { type BooksKnown, type Compared, comparedWith } from '../time/compared.ts';
import {
  addCalendarMonths,
  dayMs,
  floorDay,
  floorMonth,
  formatInstant,
  hourMs,
  type Instant,
  parseRfc3339,
} from '../time/time.ts';
import {
  type Dimension,
  decodeValue,
  encodeFilters,
  type Filters,
  isDimension,
  only,
  partsOf,
  seriesDimensions,
} from './dimensions.ts';
import { type ExploreQuestion, floorTo, type Measure, measures, nextOf, type Step, steps } from './explored.ts';

/** More bars cannot be told apart on a screen. */
export const maxBuckets = 800;
export const maxTop = 50;
const usualTop = 7;
const maxNameLength = 2000;

export const shapes = [...timeShapes, 'table'] as const;
export type Shape = TimeShape | 'table';

/** What to compare with: the window before, the same days a month before, or nothing. */
export const comparisons = ['before', 'month', 'none'] as const;

/** The question in an address. */
export interface Asked extends ExploreQuestion {
  readonly shape: Shape;
  readonly measure: Measure;
  readonly compare: (typeof comparisons)[number];
  /** The start of the period that a person compares with, in place of `compare`. */
  readonly against?: Instant | undefined;
  /** How the table of groups is sorted, as `SortedTable` says; by size by default. */
  readonly sort?: string;
  /** Why it is compared with nothing; undefined if it is, or if nobody asked for it. */
  readonly notCompared?: string | undefined;
  /** The end of the complete hours. */
  readonly through: Instant;
}

/** The hours that a question can be about. */
export interface ExploreHours extends BooksKnown {
  /** The first instant from which any account is in the books. */
  readonly historyStart: Instant;
  /** The end of the complete hours. */
  readonly through: Instant;
}

/** The question in an address. What cannot be read is replaced by its default, with a sentence about it. */
export function readQuestion(
  query: URLSearchParams,
  { through, historyStart, ...books }: ExploreHours,
): { asked: Asked; problems: string[] } {
  const problems: string[] = [];
  function choice<T extends string>(name: string, choices: readonly T[], usual: T): T {
    const text = query.get(name);
    if (text === null || text === '') return usual;
    const found = choices.find((value) => value === text);
    if (found === undefined) problems.push(`${name}: expected one of ${choices.join(', ')}`);
    return found ?? usual;
  }
  const range = usualRanges(through)[choice('range', rangeNames, 'month')];
  const window = readWindow(query, { through, historyStart }, { from: range.from, to: range.to }, problems);
  const step = fittingStep(window, choice('step', steps, range.step), problems);
  const top = Math.min(maxTop, Math.max(1, Math.floor(Number(query.get('top') ?? usualTop)) || usualTop));
  const compare = choice('compare', comparisons, 'before');
  const measure = choice('measure', measures, 'cost');
  const against = readTime(query, 'against', problems);
  const comparison = against === undefined ? compare : { from: against };
  const compared =
    comparison === 'none' ? undefined : comparedWith({ start: window.from, end: window.to }, books, comparison);
  return {
    asked: {
      ...{ ...window, step, top, compare, against, measure, through, sort: query.get('sort') ?? '' },
      before: beforeOf(compared),
      notCompared: compared?.kind === 'none' ? compared.reason : undefined,
      groupBy: readGroup(query, problems),
      filters: readFilters(query, problems),
      shape: choice('shape', shapes, 'bars'),
    },
    problems,
  };
}

/** The hours of the books, as a question needs them. */
export function hoursOf(
  { historyStart, completeFrom }: { readonly historyStart: string | null; readonly completeFrom: Instant | undefined },
  completeThrough: string,
): ExploreHours {
  return {
    historyStart: Date.parse(historyStart ?? completeThrough),
    completeFrom,
    through: Date.parse(completeThrough),
  };
}

/** The window before, as a question has it. */
export function beforeOf(compared: Compared | undefined): ExploreQuestion['before'] {
  return compared?.kind === 'compared' ? { from: compared.before.start, to: compared.before.end } : undefined;
}

/** The last days with a complete hour, from the start of the first one: what every page means by so many days. */
export function lastDays(days: number, through: Instant): { readonly from: Instant; readonly to: Instant } {
  return { from: floorDay(through - hourMs) - (days - 1) * dayMs, to: through };
}

/** Ranges that end with the complete hours or the last month, by their names in an address. */
export function usualRanges(through: Instant) {
  const lastDay = floorDay(through - hourMs);
  const month = floorMonth(lastDay);
  const days = (count: number) => ({ ...lastDays(count, through), step: 'day' as const });
  return {
    month: { words: 'This month', from: month, to: through, step: 'day' as const },
    'last-month': { words: 'Last month', from: addCalendarMonths(month, -1), to: month, step: 'day' as const },
    '7d': { words: '7 days', ...days(7) },
    '30d': { words: '30 days', ...days(30) },
    '90d': { words: '90 days', ...days(90) },
    '13m': { words: '13 months', from: addCalendarMonths(month, -12), to: through, step: 'month' as const },
  };
}

const rangeNames = ['month', 'last-month', '7d', '30d', '90d', '13m'] as const;

function readWindow(
  query: URLSearchParams,
  { through, historyStart }: Pick<ExploreHours, 'through' | 'historyStart'>,
  usual: { from: Instant; to: Instant },
  problems: string[],
): { from: Instant; to: Instant } {
  const lastDay = floorDay(through - hourMs);
  // The last day is included, as people write ranges of days; an instant is where a range ends.
  const from = readTime(query, 'from', problems) ?? usual.from;
  const to = readTime(query, 'to', problems, dayMs) ?? (query.has('from') ? lastDay + dayMs : usual.to);
  if (from >= to) {
    problems.push('from: expected a day before "to"');
    return usual;
  }
  if (to - from > maxBuckets * 31 * dayMs) {
    problems.push(`from: expected at most ${maxBuckets} months before "to"`);
    return usual;
  }
  if (from >= through) {
    problems.push(`from: nothing is known of costs from ${formatInstant(through)} on`);
    return usual;
  }
  // An account may begin later than another one.
  if (to <= historyStart) problems.push(`to: no account is in the books before ${formatInstant(historyStart)}`);
  return { from, to: Math.min(to, through) };
}

/** A day as `2026-10-04`, of which `ofDay` milliseconds are over, or an hour as `2026-10-04T05:00`. */
export function readTime(query: URLSearchParams, name: string, problems: string[], ofDay = 0): Instant | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isHour = /^\d{4}-\d{2}-\d{2}T\d{2}:00(:00)?Z?$/.test(text);
  const at = isDay || isHour ? parseRfc3339(isDay ? `${text}T00:00:00Z` : `${text.slice(0, 16)}:00Z`) : undefined;
  if (at === undefined)
    problems.push(`${name}: expected a day such as 2026-10-04, or an hour such as 2026-10-04T05:00`);
  return at === undefined || !isDay ? at : at + ofDay;
}

/** The finest step, not finer than the one asked for, that makes no more bars than fit. */
function fittingStep({ from, to }: { from: Instant; to: Instant }, asked: Step, problems: string[]): Step {
  const lengths: Readonly<Record<Step, number>> = { hour: hourMs, day: dayMs, week: 7 * dayMs, month: 28 * dayMs };
  const coarser = steps.slice(steps.indexOf(asked));
  const step = coarser.find((each) => (to - from) / lengths[each] <= maxBuckets) ?? 'month';
  if (step !== asked) problems.push(`step: ${asked} makes more than ${maxBuckets} bars; showing each ${step}`);
  return step;
}

function readGroup(query: URLSearchParams, problems: string[]): Dimension {
  const text = query.get('group');
  if (text === null || text === '') return 'workspace';
  if (isDimension(text) && text.length <= maxNameLength) return text;
  problems.push(
    `group: expected one of ${[...seriesDimensions, 'region', 'owner'].join(', ')}, a part of the owner such as owner:team, or a label such as label:service`,
  );
  return 'workspace';
}

/** Each filter is one more comparison for each row. */
const maxFilters = 20;
const maxValues = 500;

function readFilters(query: URLSearchParams, problems: string[]): Filters {
  const entries = [...query].filter(([name, value]) => isDimension(name) && value !== '');
  // The field and the value of a form, for a page without JavaScript.
  const [field, value] = [query.get('where') ?? '', query.get('is') ?? ''];
  if (field !== '' && !isDimension(field)) problems.push('where: expected a dimension');
  else if (field !== '' && value !== '') entries.push([field, value]);
  const except = query.getAll('except').filter((name) => name !== '');
  if (!except.every(isDimension)) problems.push('except: expected dimensions');
  if (entries.length > maxValues) problems.push(`expected at most ${maxValues} values; the others are left out`);
  const values = new Map<Dimension, Set<string>>();
  for (const [name, text] of entries.slice(0, maxValues))
    values.set(name, (values.get(name) ?? new Set()).add(decodeValue(text)));
  if (values.size > maxFilters) problems.push(`expected at most ${maxFilters} filters; the others are left out`);
  return Object.fromEntries(
    [...values].slice(0, maxFilters).map(([name, of]) => [name, { values: [...of], isExcept: except.includes(name) }]),
  );
}

/** The address of a question, with what differs in `changes`. */
export function addressOf(asked: Asked, changes: Partial<Asked> = {}, path = '/explore'): string {
  const { from, to, through, step, groupBy, shape, top, measure, compare, against, sort, filters } = {
    ...asked,
    ...changes,
  };
  const asks = {
    ...shownWindow({ from, to, through }),
    ...{ step, group: groupBy, shape, top: String(top) },
    ...(measure === 'cost' ? {} : { measure }),
    ...(compare === 'before' ? {} : { compare }),
    ...(against === undefined ? {} : { against: shownTime(against) }),
    ...(sort ? { sort } : {}),
  };
  return `${path}?${new URLSearchParams([...Object.entries(asks), ...encodeFilters(filters)])}`;
}

/** The page of some costs in a window, which ends with the complete hours at the latest: `/explore?…`. */
export function costsAddress({
  window: { from, to },
  through,
  step,
  groupBy,
  filters = {},
}: {
  readonly window: { readonly from: Instant; readonly to: Instant };
  readonly through: Instant;
  readonly step: Step;
  readonly groupBy: Dimension;
  readonly filters?: Filters;
}): string {
  const window = shownWindow({ from, to: Math.max(from + hourMs, Math.min(to, through)), through });
  const asks = { ...window, step, group: groupBy };
  return `/explore?${new URLSearchParams([...Object.entries(asks), ...encodeFilters(filters)])}`;
}

/** An instant as an address has it: a day, or an hour. */
export function shownTime(at: Instant): string {
  return formatInstant(at).slice(0, floorDay(at) === at ? 10 : 16);
}

/** A window as an address has it: the first and last day, or the first hour and the end of the last. */
export function shownWindow({ from, to, through }: Pick<Asked, 'from' | 'to' | 'through'>): {
  from: string;
  to: string;
} {
  if (floorDay(from) === from && (floorDay(to) === to || to === through)) {
    return { from: formatInstant(from).slice(0, 10), to: formatInstant(to - 1).slice(0, 10) };
  }
  return { from: formatInstant(from).slice(0, 16), to: formatInstant(to).slice(0, 16) };
}

/** The part of a question's window in one bucket, and the step that shows it in more detail. */
export function bucketWindow({ from, to, step }: Asked, start: Instant): { from: Instant; to: Instant; step: Step } {
  const finer: Readonly<Record<Step, Step>> = { month: 'day', week: 'day', day: 'hour', hour: 'hour' };
  return { from: Math.max(from, start), to: Math.min(to, nextOf(floorTo(start, step), step)), step: finer[step] };
}

/** The same question, only for one value, by the next dimension. */
export function narrowed(asked: Asked, key: string): string {
  const filters = { ...asked.filters, ...only({ [asked.groupBy]: key }) };
  return addressOf(asked, { groupBy: nextDimension(asked.groupBy), filters });
}

/** This server refuses a request whose head has more than 16,384 bytes. */
const maxAddress = 12_000;

/**
 * The page of one of the groups that are shown, by its key: its parts. Of all others, without a key: the same question about
 * those alone, so that each group is reached; undefined if its address would be too long.
 */
export function pageOfGroup(
  asked: Asked,
  shown: readonly { readonly key: string | undefined }[],
  key: string | undefined,
): string | undefined {
  if (key !== undefined) return narrowed(asked, key);
  const keys = shown.flatMap((each) => (each.key === undefined ? [] : [each.key]));
  const { values, isExcept } = asked.filters[asked.groupBy] ?? { values: [], isExcept: true };
  const others = isExcept ? [...values, ...keys] : values.filter((value) => !keys.includes(value));
  const filters = { ...asked.filters, [asked.groupBy]: { values: others, isExcept } };
  const address = addressOf(asked, { filters });
  return address.length > maxAddress || others.length > maxValues ? undefined : address;
}

/** The dimension that explains a value of this one. */
function nextDimension(groupBy: Dimension): Dimension {
  if (groupBy === 'resource_name' || groupBy === 'resource_uuid') return 'billing_dimension';
  if (groupBy === 'billing_dimension' || groupBy === 'unit' || partsOf(groupBy)[1] !== undefined)
    return 'resource_name';
  return groupBy === 'account' || groupBy === 'owner' || groupBy === 'region' ? 'workspace' : 'resource_name';
}
