import { type Chart, costOverTime, keysOf, pageTheme, type TimeShape, timeShapes } from '../charts/index.ts';
import { anyName, resourceAddress } from '../dashboard-address.ts';
import { UsageError } from '../errors.ts';
import { shownInstant } from '../shown-time.ts';
import { dayMs, floorDay, floorMonth, formatInstant, hourMs, type Instant } from '../time.ts';
import { readBooksState } from './books-state.ts';
import {
  bucketsOf,
  type Dimension,
  dimensions,
  type Explored,
  type ExploreQuestion,
  exploredCsv,
  type Filters,
  readExplored,
  type Step,
  steps,
  sum,
} from './explored.ts';
import { amount, money, relative } from './format.ts';
import { figure, named, table } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { Download, Page, PageRequest } from './page.ts';

/** More bars cannot be told apart on a screen. */
const maxBuckets = 800;
const usualTop = 7;
const maxTop = 50;

interface Asked extends ExploreQuestion {
  readonly shape: TimeShape;
}

/** The page on which any cost can be looked up: a range, a step, a dimension, filters. Its address is its state. */
export async function explorePage({ view, query }: PageRequest): Promise<Page> {
  const state = await readBooksState(view);
  if (state.completeThrough === null) {
    return {
      path: '/explore',
      title: 'Explore',
      body: html`<p class="empty">The books have no complete hour yet.</p>`,
    };
  }
  const through = Date.parse(state.completeThrough);
  const { asked, problems } = readQuestion(query, through);
  const length = asked.to - asked.from;
  const [explored, before, values] = await Promise.all([
    readExplored(view, asked),
    view.rows('explore_total', {
      ...filterValues(asked.filters),
      from: formatInstant(asked.from - length),
      to: formatInstant(asked.from),
    }),
    view.rows('dimension_values'),
  ]);
  const earlier = String(before[0]?.['cost'] ?? '0');
  return {
    path: '/explore',
    title: 'Explore',
    body: html`<section>${form(
      asked,
      values.map((row) => [String(row['dimension']), String(row['value'])]),
    )}
${problems.map((problem) => html`<p class="state bad">${problem}</p>`)}</section>
${figure(chartOf(asked, explored, earlier, state.completeThrough, through), { height: 340 })}
<section>${totalsTable(asked, explored)}
<p><a href="/explore.csv?${query.toString()}" download>Download these rows as CSV</a></p></section>`,
  };
}

/** The rows of the page as a CSV file. */
export async function exploreCsv({ view, query }: Pick<PageRequest, 'view' | 'query'>): Promise<Download> {
  const { completeThrough } = await readBooksState(view);
  if (completeThrough === null) throw new UsageError('the books have no complete hour yet');
  const { asked, problems } = readQuestion(query, Date.parse(completeThrough));
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  const [from, to] = [asked.from, asked.to - 1].map((at) => formatInstant(at).slice(0, 10));
  const name = `costs-by-${asked.groupBy.replace('_', '-')}-${from}-${to}.csv`;
  return { name, type: 'text/csv; charset=utf-8', body: await exploredCsv(view, asked) };
}

/** The question in an address. What cannot be read is replaced by its default, and said. */
export function readQuestion(query: URLSearchParams, through: Instant): { asked: Asked; problems: string[] } {
  const problems: string[] = [];
  function choice<T extends string>(name: string, choices: readonly T[], usual: T): T {
    const text = query.get(name);
    if (text === null || text === '') return usual;
    const found = choices.find((value) => value === text);
    if (found === undefined) problems.push(`${name}: expected one of ${choices.join(', ')}`);
    return found ?? usual;
  }
  function day(name: string, usual: Instant): Instant {
    const text = query.get(name);
    if (text === null || text === '') return usual;
    const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
    if (Number.isNaN(at)) problems.push(`${name}: expected a day such as ${formatInstant(usual).slice(0, 10)}`);
    return Number.isNaN(at) ? usual : at;
  }
  const lastDay = floorDay(through - hourMs);
  const from = day('from', floorMonth(lastDay));
  // The last day is included, as people write ranges of days.
  const end = day('to', lastDay) + dayMs;
  const isWindow = from < end;
  if (!isWindow) problems.push('from: expected a day before "to"');
  const window = isWindow
    ? { from, to: Math.min(end, Math.max(from + hourMs, through)) }
    : { from: floorMonth(lastDay), to: through };
  const asStep = choice('step', steps, 'day');
  const step = bucketsOf(window.from, window.to, asStep).length > maxBuckets ? 'day' : asStep;
  if (step !== asStep) problems.push(`step: ${asStep} makes more than ${maxBuckets} bars; showing days`);
  const top = Math.min(maxTop, Math.max(1, Math.floor(Number(query.get('top') ?? usualTop)) || usualTop));
  const filters = Object.fromEntries(
    dimensions.flatMap((dimension) => {
      const value = query.get(dimension);
      return value === null || value === '' ? [] : [[dimension, value]];
    }),
  );
  return {
    asked: {
      ...window,
      step,
      top,
      filters,
      groupBy: choice('group', dimensions, 'workspace'),
      shape: choice('shape', timeShapes, 'bars'),
    },
    problems,
  };
}

function filterValues(filters: Filters): Record<string, string | null> {
  return Object.fromEntries(dimensions.map((dimension) => [dimension, filters[dimension] ?? null]));
}

const words: Readonly<Record<Dimension, string>> = {
  ...{
    workspace: 'Workspace',
    resource_type: 'Resource type',
    resource_name: 'Resource',
    billing_dimension: 'Billing dimension',
  },
  account: 'Account',
};

function form(asked: Asked, values: readonly (readonly [string, string])[]): Markup {
  const { from, to, step, groupBy, shape, top, filters } = asked;
  const option = (value: string, shown: string, isChosen: boolean) =>
    html`<option value="${value}"${isChosen ? raw(' selected') : ''}>${shown}</option>`;
  const known = (dimension: Dimension) => values.filter(([name]) => name === dimension).map(([, value]) => value);
  return html`<form class="filters" method="get" action="/explore">
<label>From <input type="date" name="from" value="${formatInstant(from).slice(0, 10)}"></label>
<label>To <input type="date" name="to" value="${formatInstant(to - 1).slice(0, 10)}"></label>
<label>By <select name="step">${steps.map((each) => option(each, each, each === step))}</select></label>
<label>Group by <select name="group">${dimensions.map((each) => option(each, words[each], each === groupBy))}</select></label>
<label>As <select name="shape">${timeShapes.map((each) => option(each, each, each === shape))}</select></label>
<label>Show <input type="number" name="top" value="${top}" min="1" max="${maxTop}" size="3"></label>
${(['workspace', 'resource_type', 'billing_dimension', 'account'] as const).map(
  (dimension) =>
    html`<label>${words[dimension]} <select name="${dimension}">${option('', 'all', false)}${withChosen(
      known(dimension),
      filters[dimension],
    ).map((value) => option(value, named(value, 'none'), value === filters[dimension]))}</select></label>`,
)}
<label>Resource <input name="resource_name" value="${filters.resource_name ?? ''}" placeholder="all"></label>
<button>Show</button>
</form>`;
}

function withChosen(known: readonly string[], chosen: string | undefined): readonly string[] {
  return chosen === undefined || known.includes(chosen) ? known : [chosen, ...known];
}

function chartOf(asked: Asked, explored: Explored, earlier: string, completeThrough: string, through: Instant): Chart {
  const { to, step, groupBy, shape } = asked;
  const { labels, series, total } = explored;
  const change = relative(total, earlier);
  const isCut = to === through && labels.length > 0 && (bucketsOf(to, to + 1, step)[0] ?? to) !== to;
  const [largest] = series;
  const by = words[groupBy].toLowerCase();
  return {
    id: 'explored',
    title:
      largest === undefined
        ? 'No costs match'
        : `${amount(total)} USD${change === undefined ? '' : `, ${change} against the period before`}; largest ${by}: ${largest.name}, ${amount(largest.total)}`,
    description: `Cost by ${step} and ${by}. ${series.map(({ name, total: part }) => `${name}: ${amount(part)} USD`).join('. ')}.`,
    sql: explored.sql,
    completeThrough,
    keys: keysOf(series),
    option: costOverTime(
      {
        labels: labels.map((label) => labelOf(label, step)),
        series,
        shape,
        incompleteFrom: isCut ? labels.length - 1 : undefined,
      },
      pageTheme,
    ),
  };
}

function labelOf(label: string, step: Step): string {
  if (step === 'month') return label.slice(0, 7);
  return step === 'hour' ? label.slice(5, 16).replace('T', ' ') : label.slice(5, 10);
}

function totalsTable(asked: Asked, { series, total }: Explored): Markup {
  const { groupBy, filters } = asked;
  const whole = Number(total);
  return html`${table(
    `By ${words[groupBy].toLowerCase()}`,
    [
      {
        head: words[groupBy],
        cell: (row) =>
          row.key === undefined
            ? row.name
            : html`<a href="${narrowed(asked, row.key)}">${row.name}</a>${groupBy === 'resource_name' ? html` <a class="state" href="${resourceAddress(filters.resource_type ?? anyName, filters.workspace ?? anyName, row.key)}" aria-label="Page of ${row.name}">page</a>` : ''}`,
      },
      { head: 'USD', isNumber: true, cell: (row) => money(row.total) },
      {
        head: 'Share',
        isNumber: true,
        cell: (row) => (whole === 0 ? '' : `${((Number(row.total) / whole) * 100).toFixed(1)} %`),
      },
      { head: 'Usage', isNumber: true, cell: (row) => usageOf(row.usages, row.unit) },
      { head: 'USD per unit', isNumber: true, cell: (row) => unitPrice(row.total, row.usages, row.unit) },
    ],
    series,
    'No costs match these filters in this range.',
    ['Total', money(total), whole === 0 ? '' : '100.0 %', '', ''],
  )}
<p class="empty">${formatInstant(asked.from).slice(0, 10)} through ${shownInstant(formatInstant(asked.to))}.</p>`;
}

/** The same question, only for one value, by the next dimension. */
function narrowed({ from, to, step, shape, top, groupBy, filters }: Asked, key: string): string {
  const next: Dimension =
    groupBy === 'resource_name' ? 'billing_dimension' : groupBy === 'account' ? 'workspace' : 'resource_name';
  const query = new URLSearchParams({
    ...{
      from: formatInstant(from).slice(0, 10),
      to: formatInstant(to - 1).slice(0, 10),
      step,
      group: next,
      shape,
      top: String(top),
    },
    ...filters,
    [groupBy]: key,
  });
  return `/explore?${query}`;
}

function usageOf(usages: readonly (string | undefined)[], unit: string | undefined): string {
  const some = usages.filter((usage) => usage !== undefined);
  if (some.length === 0 || unit === undefined) return '';
  return `${new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }).format(Number(sum(some)))} ${unit}`;
}

function unitPrice(total: string, usages: readonly (string | undefined)[], unit: string | undefined): string {
  const usage = Number(sum(usages.filter((each) => each !== undefined)));
  return usage === 0 || unit === undefined ? '' : Number((Number(total) / usage).toPrecision(4)).toString();
}
