import { type Chart, costOverTime, keysOf, pageTheme, type TimeShape } from '../charts/index.ts';
import { plainDecimal } from '../money/money.ts';
import { anomalyAddress } from '../text/dashboard-address.ts';
import { floorMonth, formatInstant, formatMonth, type Instant, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { BooksView, Scope } from './books/index.ts';
import { readBooksState } from './books-state.ts';
import {
  admits,
  type Choice,
  choiceWords,
  dimensionWords,
  oneValue,
  only,
  partsOf,
  sharedOwner,
} from './dimensions.ts';
import { driversSection } from './drivers.ts';
import { actionsOf, textsBefore } from './explore-actions.ts';
import { exploreForm, readChoices } from './explore-form.ts';
import {
  type Asked,
  addressOf,
  type ExploreHours,
  hoursOf,
  readQuestion,
  shownTime,
  shownWindow,
} from './explore-question.ts';
import { bucketsTable, groupsTable, longDetails } from './explore-tables.ts';
import {
  bucketsOf,
  type Explored,
  floorTo,
  type GroupCosts,
  readExplored,
  type Step,
  sumOf,
  unitPrice,
  usageDecimals,
} from './explored.ts';
import { amount, quantity, relative, signed } from './format.ts';
import { figure, named } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import { searchForm } from './resource-search.ts';
import { downloadLinks } from './rows-file.ts';

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
  const books = hoursOf(state, state.completeThrough);
  const { from, to } = readQuestion(query, books).asked;
  const starts = { key: null, key_md5: null, from: formatInstant(from), to: formatInstant(to), rows: null };
  const [{ asked, problems, dimensions, explored, fewer }, choices, anomalies, owners] = await Promise.all([
    answer(view, query, books, maxPoints),
    readChoices(view),
    // Anomalies are of all costs of a workspace and type.
    view.scope.kind === 'all' ? view.rows('anomalies', starts) : [],
    view.scope.kind === 'all' && query.toString().includes('owner') ? view.rows('anomaly_owners') : [],
  ]);
  const unusual = unusualIn(asked, explored, { anomalies, owners });
  const isTable = asked.shape === 'table';
  return {
    path: '/explore',
    title: titleOf(asked),
    body: html`<section>${exploreForm(asked, choices)}${searchForm()}
${problems.map((problem) => html`<p class="state bad">${problem}</p>`)}${dimensionsShown(asked, dimensions)}${fewer ? html`<p class="empty">More groups than ${asked.top} do not fit ${explored.labels.length} bars. The downloads have them.</p>` : ''}</section>
${
  isTable
    ? html`<section><p class="finding">${finding(asked, explored)}</p>${bucketsTable(asked, explored)}</section>`
    : html`${figure(chartOf(asked, explored, unusual, state.completeThrough), { height: 340, actions: actionsOf(asked, explored), details: longDetails(asked, explored) })}${unusualList(unusual)}`
}
<section class="cards">${groupsTable(asked, explored)}
<p class="empty">${windowWords(asked)}${directWords(asked, view.scope)}</p>
${downloadLinks((format) => addressOf(asked, { top: fewer ?? asked.top }, `/explore.${format}`), `Download a row per ${asked.step} and group`)}</section>
${await driversSection(view, asked)}`,
  };
}

/** `Cost by workspace, Region: eu, us, 2026-10-01 to 2026-10-31`. */
function titleOf(asked: Asked): string {
  const { from, to } = shownWindow(asked);
  const filters = Object.entries(asked.filters).map(
    ([dimension, choice]) => `, ${dimensionWords(dimension)}: ${choiceWords(dimension, choice)}`,
  );
  return `${measureNames[asked.measure]} by ${dimensionWords(asked.groupBy).toLowerCase()}${filters.join('')}, ${from} to ${to}`;
}

const measureNames = { cost: 'Cost', usage: 'Usage', price: 'Price' } as const;

export interface Answered {
  readonly asked: Asked;
  readonly problems: readonly string[];
  /** The billing dimensions of what matches, where usage or prices are asked for. */
  readonly dimensions: readonly string[];
  readonly explored: Explored;
  /** How many groups were asked for, where fewer are shown. */
  readonly fewer: number | undefined;
}

/** More bars take a second to draw. */
const maxPoints = 6000;

/**
 * The question of an address and its answer, with at most `points` bars. Usage and prices are of one billing dimension: the one
 * that costs most, by default.
 */
export async function answer(
  view: BooksView,
  query: URLSearchParams,
  books: ExploreHours,
  points = Number.POSITIVE_INFINITY,
): Promise<Answered> {
  const { asked: read, problems } = readQuestion(query, books);
  const buckets = bucketsOf(read.from, read.to, read.step).length;
  const top = Math.min(read.top, Math.max(1, Math.floor(points / buckets) - 1));
  let asked = { ...read, top };
  let dimensions: readonly string[] = [];
  if (asked.measure !== 'cost') {
    const { billing_dimension: wanted, ...filters } = asked.filters;
    const byDimension = await readExplored(view, {
      ...{ ...asked, before: undefined, measure: 'cost', top: 50, filters },
      groupBy: 'billing_dimension',
    });
    const metered = byDimension.series.flatMap(({ key, unit }) =>
      key === undefined || key === '' || unit === undefined ? [] : [{ key, unit }],
    );
    dimensions = metered.map(({ key }) => key);
    const chosen = metered.find(({ key }) => wanted === undefined || admits(wanted, key));
    if (chosen !== undefined)
      asked = { ...asked, filters: { ...filters, ...only({ billing_dimension: chosen.key, unit: chosen.unit }) } };
  }
  const explored = await readExplored(view, asked);
  const fewer = top < read.top && explored.groups > top ? read.top : undefined;
  return { asked, problems, dimensions, explored, fewer };
}

/** The billing dimension whose usage or price is shown, and links to the others. */
function dimensionsShown(asked: Asked, dimensions: readonly string[]): Markup {
  const { unit: _, billing_dimension: shown, ...filters } = asked.filters;
  if (asked.measure === 'cost' || dimensions.length < 2) return html``;
  return html`<p class="empty">Usage of different billing dimensions cannot be added up. Shown: ${oneValue(shown) ?? ''}. Others: ${dimensions
    .filter((each) => each !== oneValue(shown))
    .map(
      (each) =>
        html`<a href="${addressOf(asked, { filters: { ...filters, ...only({ billing_dimension: each }) } })}">${each}</a> `,
    )}</p>`;
}

function windowWords(asked: Asked): Markup {
  const { from, to, through, before, notCompared, measure, against } = asked;
  const span = (window: { from: Instant; to: Instant }) =>
    `${shownInstant(formatInstant(window.from))} to ${shownInstant(formatInstant(window.to))}`;
  const compared = before === undefined ? '' : `, compared with ${span(before)}`;
  const isOffered = before !== undefined && against === undefined && measure === 'cost';
  const drivers = isOffered
    ? html` <a href="${addressOf(asked, { against: before.from })}">What makes the difference?</a>`
    : '';
  const young = to === through ? ' These are complete hours; Budgets, Allocation and Months include younger ones.' : '';
  return html`${span({ from, to })}${compared}.${young}${drivers}${notCompared === undefined ? '' : ` Not compared with the time before: ${notCompared}.`}`;
}

function finding(
  { groupBy, before, measure, compare, against: chosen }: Asked,
  { total, totalBefore, series }: Explored,
): string {
  const [largest] = series.filter(({ isRest, costs }) => !isRest && costs.some((cost) => cost !== undefined));
  if (series.length === 0) return 'No costs match';
  const against = (now: string | undefined, earlier: string | undefined) => {
    if (before === undefined || now === undefined || earlier === undefined) return '';
    const change = relative(now, earlier);
    const than = compare === 'month' ? 'a month before' : 'the period before';
    return change === undefined
      ? ''
      : `, ${change} against ${chosen === undefined ? than : `the time from ${shownTime(chosen)} on`}`;
  };
  const by = (partsOf(groupBy)[1] ?? dimensionWords(groupBy)).toLowerCase();
  const most = largest === undefined ? '' : `; largest ${by}: ${largest.name}`;
  if (measure === 'cost') {
    const ofMost = largest === undefined ? '' : `, ${amount(largest.total)}`;
    return `${amount(total)} USD${against(total, totalBefore)}${most}${ofMost}`;
  }
  const unit = series[0]?.unit ?? '';
  const sumOfUsage = (groups: readonly GroupCosts[]) =>
    sumOf(
      groups.map((each) => each.usage),
      usageDecimals,
    );
  const usage = sumOfUsage(series);
  const usageBefore = sumOfUsage(series.map((each) => each.before));
  if (measure === 'usage') return `${quantity(usage)} ${unit}${against(usage, usageBefore)}${most}`;
  const price = unitPrice(total, usage);
  const shown = price === undefined ? 'No' : plainDecimal(Number(Number(price).toPrecision(4)));
  return `${shown} USD per ${unit}${against(price, unitPrice(totalBefore, usageBefore))}`;
}

function chartOf(asked: Asked, explored: Explored, unusual: readonly Unusual[], completeThrough: string): Chart {
  const { to, through, step, groupBy, measure, before } = asked;
  const { labels, series } = explored;
  const isCut = to === through && labels.length > 0 && (bucketsOf(to, to + 1, step)[0] ?? to) !== to;
  // Prices of several groups are no sum, so they are lines.
  const shape: TimeShape = measure === 'price' ? 'lines' : asked.shape === 'table' ? 'bars' : asked.shape;
  const earlier = before === undefined ? undefined : { name: beforeName, values: valuesBefore(asked, explored) };
  const isCompared = earlier?.values.some((value) => value !== null) === true;
  return {
    id: 'explored',
    title: finding(asked, explored),
    description: `${measureNames[measure]} by ${step} and ${dimensionWords(groupBy).toLowerCase()}. ${series.map(({ name, total: part }) => `${name}: ${amount(part)} USD`).join('. ')}.`,
    sql: explored.sql,
    completeThrough,
    keys: [
      ...keysOf(series),
      ...(isCompared ? [{ name: beforeName, look: 'before' }] : []),
      ...(unusual.length > 0 ? [{ name: 'unusual', look: 'mark' }] : []),
    ],
    option: costOverTime(
      {
        labels: labels.map((label) => labelOf(label, step)),
        ...{ series, shape, incompleteFrom: isCut ? labels.length - 1 : undefined },
        before: isCompared ? earlier : undefined,
        marks: unusual.map(({ index, name }) => ({ index, name })),
      },
      pageTheme,
    ),
  };
}

/** An anomaly that starts in a bucket of a chart. */
interface Unusual {
  readonly index: number;
  readonly name: string;
  readonly day: string;
  readonly address: string;
}

/**
 * The anomalies of the window, where all of their costs are shown, or those of the resource that drives them. Regions and
 * labels of anomalies are not known.
 */
function unusualIn(
  asked: Asked,
  { labels }: Explored,
  { anomalies, owners }: { readonly anomalies: readonly SqlRow[]; readonly owners: readonly SqlRow[] },
): readonly Unusual[] {
  const { filters, step, measure } = asked;
  const names = ['account', 'workspace', 'resource_type', 'billing_dimension'];
  const admitsRow = (row: SqlRow, name: string, choice: Choice): boolean => {
    const [kind, part] = partsOf(name);
    if (names.includes(name)) return admits(choice, String(row[name] ?? ''));
    if (name === 'resource_name') return row['driver'] !== null && admits(choice, String(row['driver']));
    return (
      kind === 'owner' &&
      owners.some((each) => each['anomaly_key'] === row['anomaly_key'] && admits(choice, ownerOf(each, part)))
    );
  };
  if (measure !== 'cost') return [];
  return anomalies.flatMap((row) => {
    const day = String(row['first_day']);
    const at = Date.parse(`${day}T00:00:00Z`);
    const isShown = Object.entries(filters).every(([name, choice]) => admitsRow(row, name, choice));
    const index = labels.indexOf(formatInstant(floorTo(at, step)));
    if (!isShown || index < 0) return [];
    const name = named(String(row['driver'] ?? row['resource_type'] ?? ''), 'costs without a name');
    const address = anomalyAddress(String(row['anomaly_key']));
    return [{ index, name: `${name} ${signed(String(row['impact']))} USD`, day, address }];
  });
}

/** The value of an owner as filters have it: of one part, or of all. */
function ownerOf(row: SqlRow, part: string | undefined): string {
  if (row['is_split'] === true) return sharedOwner;
  const owner = String(row['owner'] ?? '');
  if (part === undefined || owner === '') return owner;
  return (JSON.parse(owner) as Record<string, string | null>)[part] ?? '';
}

/** Says what the costs of owners are here, and where shared costs are divided. */
function directWords({ groupBy, filters, to }: Asked, scope: Scope): Markup | string {
  const [dimension] = [groupBy, ...Object.keys(filters)].map(partsOf).filter(([kind]) => kind === 'owner');
  if (dimension === undefined || scope.kind === 'owner') return '';
  const month = formatMonth(floorMonth(to - 1));
  const [, part] = dimension;
  const page = `/allocation?${new URLSearchParams({ month, ...(part === undefined ? {} : { dimension: part }) })}`;
  const where = scope.kind === 'all' ? html` <a href="${page}">Allocation</a> adds the share of each owner.` : '';
  return html` Owners have their direct costs here; costs that a rule splits are the group “shared costs”.${where}`;
}

function unusualList(unusual: readonly Unusual[]): Markup {
  if (unusual.length === 0) return html``;
  return html`<section><h2>Unusual costs that start in this range</h2><ul class="plain">${unusual
    .slice(0, 10)
    .map(({ name, day, address }) => html`<li>${day}: <a href="${address}">${name}</a></li>`)}</ul></section>`;
}

const beforeName = 'the time before, all together';

function valuesBefore(asked: Asked, explored: Explored): (number | null)[] {
  return textsBefore(asked, explored).map((text) => (text === undefined ? null : Number(text)));
}

function labelOf(label: string, step: Step): string {
  if (step === 'month') return label.slice(0, 7);
  return step === 'hour' ? label.slice(5, 16).replace('T', ' ') : label.slice(5, 10);
}
