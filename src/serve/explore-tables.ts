import { decimalOfWhole, usdDecimals, wholeOfDecimal } from '../money/money.ts';
import { sortingOf } from '../tables/sorting.ts';
import { anyName, resourceAddress } from '../text/dashboard-address.ts';
import { dimensionWords, oneValue, sharedOwner } from './dimensions.ts';
import { type Asked, addressOf, bucketWindow, pageOfGroup } from './explore-question.ts';
import {
  bucketsOf,
  type Explored,
  type ExploredSeries,
  type GroupCosts,
  type Measure,
  sum,
  sumOf,
  unitPrice,
  usageDecimals,
} from './explored.ts';
import { money, price, quantity, relativeOrNew, shareOf } from './format.ts';
import { type Column, sortLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

/** Longer tables stand on a page of their own. */
const maxDetails = 62;

/** How the measure of a table is read and shown. */
interface Shown {
  readonly head: string;
  of(group: GroupCosts): string | undefined;
  cell(text: string | undefined): Markup | string;
  /** The decimals of exact differences; undefined for prices, whose differences mean little. */
  readonly decimals: number | undefined;
}

const priceOf = ({ total, usage }: GroupCosts) => unitPrice(total, usage);

function shownOf(measure: Measure, unit: string): Shown {
  if (measure === 'price') return { head: `USD per ${unit}`, of: priceOf, cell: price, decimals: undefined };
  if (measure === 'usage') {
    return { head: `Usage, ${unit}`, of: ({ usage }) => usage, cell: quantityCell, decimals: usageDecimals };
  }
  const cell = (text: string | undefined) => (text === undefined ? '' : money(text));
  return { head: 'USD', of: ({ total }) => total, cell, decimals: usdDecimals };
}

function quantityCell(text: string | undefined): Markup | string {
  return text === undefined ? '' : html`<data value="${text}">${quantity(text)}</data>`;
}

/** Each group with its cost or usage, share, change and price: the largest first, the rest last. */
export function groupsTable(asked: Asked, { series, total, totalBefore }: Explored): Markup {
  const { groupBy, before, measure, filters } = asked;
  const shown = shownOf(measure, oneValue(filters['unit']) ?? 'unit');
  const isOneUnit = measure !== 'cost';
  const usageOf = (groups: readonly GroupCosts[]) =>
    isOneUnit
      ? sumOf(
          groups.map(({ usage }) => usage),
          usageDecimals,
        )
      : undefined;
  const all: GroupCosts = { costs: [], usages: [], total, usage: usageOf(series) };
  const allBefore = { ...all, total: totalBefore, usage: usageOf(series.map((row) => row.before)) };
  const hasUsage = series.some(({ usage }) => usage !== undefined);
  const columns: GroupColumn[] = [
    {
      ...{ key: 'name', head: dimensionWords(groupBy), of: ({ name }) => name, total: 'Total' },
      cell: (row) => groupCell(asked, row, series),
    },
    numbers(measure, shown.head, shown.of, (row) => shown.cell(shown.of(row)), all),
  ];
  if (measure !== 'price') {
    columns.push(numbers('share', 'Share', shown.of, (row) => shareOf(shown.of(row), shown.of(all)), all));
  }
  if (before !== undefined) {
    const change = (row: ExploredSeries) => Number(shown.of(row) ?? 0) - Number(shown.of(row.before) ?? 0);
    const rise = (row: ExploredSeries) => change(row) / Number(shown.of(row.before) ?? 0);
    columns.push(
      {
        ...{ key: 'before', head: 'Before', isNumber: true, of: (row) => shown.of(row.before) },
        ...{ cell: (row) => shown.cell(shown.of(row.before)), total: shown.cell(shown.of(allBefore)) },
      },
      ...(shown.decimals === undefined
        ? []
        : [
            {
              ...{ key: 'change', head: 'Change', isNumber: true, of: change },
              cell: (row: ExploredSeries) => changeCell(shown, row, row.before),
              total: changeCell(shown, all, allBefore),
            },
          ]),
      {
        ...{ key: 'percent', head: 'Change, %', isNumber: true, of: rise },
        cell: (row) => changeWords(row, shown),
        total: relativeOrNew(shown.of(all) ?? '0', shown.of(allBefore) ?? '0'),
      },
    );
  }
  const cost = (row: GroupCosts) => row.total;
  if (isOneUnit) columns.push(numbers('cost', 'USD', cost, (row) => money(row.total ?? '0'), all));
  if (hasUsage && measure !== 'usage') {
    columns.push({
      ...{ key: 'usage', head: 'Usage', isNumber: true, of: (row) => row.usage },
      cell: (row) => usageWords(row.usage, row.unit),
      total: usageWords(all.usage, oneValue(filters['unit'])),
    });
  }
  if (hasUsage && measure !== 'price') {
    columns.push(numbers('price', 'USD per unit', priceOf, (row) => price(priceOf(row)), all));
  }
  const { sort = '' } = asked;
  const sorted = { sort, address: (by: string) => addressOf(asked, { sort: by }) };
  return table(
    `By ${dimensionWords(groupBy).toLowerCase()}`,
    columns.map((column) => ({ ...column, sort: sortLink(column.key, column.isNumber === true, sorted) })),
    sortedBy(series, sort, columns),
    'No costs match these filters in this range.',
    columns.map((column) => column.total),
  );
}

/** A column of the table of groups: what sorts it, and the cell of the whole. */
type GroupColumn = Column<ExploredSeries> & {
  readonly key: string;
  of(row: ExploredSeries): string | number | undefined;
  readonly total: Markup | string;
};

/** A column whose total is the same number of the whole. */
function numbers(
  key: string,
  head: string,
  of: (row: GroupCosts) => string | undefined,
  cell: (row: GroupCosts) => Markup | string,
  all: GroupCosts,
): GroupColumn {
  return { key, head, of, cell, isNumber: true, total: cell(all) };
}

/** The groups by the column that an address names, those without a value and the rest last. */
function sortedBy(
  series: readonly ExploredSeries[],
  sort: string,
  columns: readonly GroupColumn[],
): readonly ExploredSeries[] {
  const keys = columns.map(({ key }) => key);
  const sorting = sortingOf(sort, keys);
  const column = columns.find(({ key }) => key === sorting?.name);
  if (sorting === undefined || column === undefined) return series;
  const sign = sorting.isDescending ? -1 : 1;
  const compared = (one: ExploredSeries, other: ExploredSeries) => {
    const [a, b] = [column.of(one), column.of(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    if (column.isNumber !== true) return sign * (String(a) < String(b) ? -1 : 1);
    return sign * Math.sign(Number(a) - Number(b));
  };
  return series.toSorted((one, other) => Number(one.isRest) - Number(other.isRest) || compared(one, other));
}

function groupCell(asked: Asked, { key, name }: ExploredSeries, all: readonly ExploredSeries[]): Markup | string {
  const page = pageOfGroup(asked, all, key);
  const link = page === undefined ? name : html`<a href="${page}">${name}</a>`;
  if (key === undefined) return link;
  const { groupBy, filters } = asked;
  if (groupBy === 'resource_name' && key !== '') {
    const of = (name: string) => oneValue(filters[name]) ?? anyName;
    const address = resourceAddress(of('resource_type'), of('workspace'), key);
    return html`${link} <a class="state" href="${address}" aria-label="Page of ${name}">page</a>`;
  }
  return key === sharedOwner ? html`${link} <span class="state">a rule splits them over owners</span>` : link;
}

/** The exact change against the window before, with its sign. */
function changeCell({ of, decimals = usdDecimals }: Shown, now: GroupCosts, before: GroupCosts): Markup | string {
  const whole = (text: string | undefined) => (text === undefined ? 0n : wholeOfDecimal(text, decimals));
  const change = decimalOfWhole(whole(of(now)) - whole(of(before)), decimals);
  if (decimals === usdDecimals) return money(change, { isSigned: true });
  return html`<data value="${change}">${Number(change) > 0 ? '+' : ''}${quantity(change)}</data>`;
}

/** The change in percent; `new` and `gone` where a group has costs in only one of the windows. */
function changeWords(row: ExploredSeries, { of }: Shown): Markup | string {
  const isNow = row.costs.some((cost) => cost !== undefined);
  if (!isNow) return html`<span class="badge">gone</span>`;
  if (row.before.total === undefined) return html`<span class="badge">new</span>`;
  const [now, before] = [of(row), of(row.before)];
  return now === undefined || before === undefined ? '' : relativeOrNew(now, before);
}

function usageWords(usage: string | undefined, unit: string | undefined): Markup | string {
  return usage === undefined || unit === undefined
    ? ''
    : html`<data value="${usage}" title="${usage} ${unit}">${quantity(usage)}</data> ${unit}`;
}

/** Each bucket with the measure of each group. The names of buckets and groups lead to their details. */
export function bucketsTable(asked: Asked, { labels, series }: Explored): Markup {
  const { step, measure, through, to } = asked;
  const shown = (text: string | undefined) => {
    if (text === undefined) return '';
    if (measure === 'cost') return money(text);
    return measure === 'price' ? price(text) : html`<data value="${text}">${quantity(text)}</data>`;
  };
  const isCut = to === through && (bucketsOf(to, to + 1, step)[0] ?? to) !== to;
  const rows = labels.map((label, index) => ({ label, index }));
  const columns: Column<{ label: string; index: number }>[] = [
    {
      head: step.charAt(0).toUpperCase() + step.slice(1),
      cell: ({ label, index }) =>
        html`<a href="${addressOf(asked, bucketWindow(asked, Date.parse(label)))}">${bucketName(label, step)}</a>${isCut && index === labels.length - 1 ? html` <span class="state">so far</span>` : ''}`,
    },
    ...(measure === 'price'
      ? []
      : [
          {
            head: 'Total',
            isNumber: true,
            cell: ({ index }: { index: number }) => {
              const texts = series.map((each) => each.texts[index]);
              if (texts.every((text) => text === undefined)) return '';
              return shown(measure === 'cost' ? sum(texts) : sumOf(texts, usageDecimals));
            },
          },
        ]),
    ...series.map((each) => ({
      head: groupCell(asked, each, series),
      isNumber: true,
      cell: ({ index }: { index: number }) => shown(each.texts[index]),
    })),
  ];
  const unit =
    measure === 'usage' ? (oneValue(asked.filters['unit']) ?? 'usage') : measure === 'price' ? 'USD per unit' : 'USD';
  return table(
    `By ${step}, ${unit}`,
    columns,
    series.length === 0 ? [] : rows,
    'No costs match these filters in this range.',
  );
}

function bucketName(label: string, step: Asked['step']): string {
  if (step === 'month') return label.slice(0, 7);
  return step === 'hour' ? label.slice(0, 16).replace('T', ' ') : label.slice(0, 10);
}

/** The numbers of a chart, closed until somebody opens them; a link to them if there are many. */
export function longDetails(asked: Asked, explored: Explored): Markup {
  if (explored.series.length === 0) return html``;
  if (explored.labels.length > maxDetails) {
    return html`<p class="numbers"><a href="${addressOf(asked, { shape: 'table' })}">All numbers by ${asked.step} as a table</a></p>`;
  }
  return html`<details><summary>Numbers by ${asked.step}</summary>${bucketsTable(asked, explored)}</details>`;
}
