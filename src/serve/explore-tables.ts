import { anyName, resourceAddress } from '../dashboard-address.ts';
import { dimensionWords, sharedOwner } from './dimensions.ts';
import { type Asked, addressOf, bucketWindow, narrowed } from './explore-question.ts';
import { bucketsOf, type Explored, type ExploredSeries, sum, sumOf, unitPrice, usageDecimals } from './explored.ts';
import { money, price, quantity, relative } from './format.ts';
import { type Column, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

/** Longer tables stand on a page of their own. */
const maxDetails = 62;

/** Each group with its cost, share, change and price: the largest first, the rest last. */
export function groupsTable(
  asked: Asked,
  { series, total, totalBefore }: Explored,
  { isBeforeKnown }: { readonly isBeforeKnown: boolean },
): Markup {
  const { groupBy, before, measure } = asked;
  const whole = Number(total);
  const isCompared = before !== undefined;
  const compared: Column<ExploredSeries>[] = isCompared
    ? [
        {
          head: 'Before',
          isNumber: true,
          cell: (row) => (row.before.total === undefined ? '' : money(row.before.total)),
        },
        {
          head: 'Change',
          isNumber: true,
          cell: (row) => money(difference(row.total, row.before.total), { isSigned: true }),
        },
        { head: 'Change, %', isNumber: true, cell: (row) => changeWords(row, isBeforeKnown) },
      ]
    : [];
  const usages = series.map((row) => row.usage);
  const isOneUnit = measure !== 'cost';
  const usage = isOneUnit ? sumOf(usages, usageDecimals) : undefined;
  const hasUsage = usages.some((each) => each !== undefined);
  const used: Column<ExploredSeries>[] = hasUsage
    ? [
        { head: 'Usage', isNumber: true, cell: (row) => usageWords(row.usage, row.unit) },
        { head: 'USD per unit', isNumber: true, cell: (row) => price(unitPrice(row.total, row.usage)) },
      ]
    : [];
  return table(
    `By ${dimensionWords(groupBy).toLowerCase()}`,
    [
      { head: dimensionWords(groupBy), cell: (row) => groupCell(asked, row) },
      { head: 'USD', isNumber: true, cell: (row) => money(row.total) },
      {
        head: 'Share',
        isNumber: true,
        cell: (row) => (whole === 0 ? '' : `${((Number(row.total) / whole) * 100).toFixed(1)} %`),
      },
      ...compared,
      ...used,
    ],
    series,
    'No costs match these filters in this range.',
    [
      'Total',
      money(total),
      whole === 0 ? '' : '100.0 %',
      ...(isCompared
        ? [
            money(totalBefore),
            money(difference(total, totalBefore), { isSigned: true }),
            relative(total, totalBefore) ?? '',
          ]
        : []),
      ...(hasUsage ? [usageWords(usage, series[0]?.unit), price(unitPrice(total, usage))] : []),
    ],
  );
}

function groupCell(asked: Asked, { key, name }: ExploredSeries): Markup | string {
  if (key === undefined) return name;
  const { groupBy, filters } = asked;
  const link = html`<a href="${narrowed(asked, key)}">${name}</a>`;
  if (groupBy === 'resource_name' && key !== '') {
    const address = resourceAddress(filters['resource_type'] ?? anyName, filters['workspace'] ?? anyName, key);
    return html`${link} <a class="state" href="${address}" aria-label="Page of ${name}">page</a>`;
  }
  return key === sharedOwner ? html`${link} <span class="state">a rule splits them over owners</span>` : link;
}

function difference(now: string, before: string | undefined): string {
  return sum([now, before?.startsWith('-') ? before.slice(1) : before === undefined ? undefined : `-${before}`]);
}

/** The change in percent; `new` and `gone` where a group has costs in only one of the windows. */
function changeWords(row: ExploredSeries, isBeforeKnown: boolean): Markup | string {
  const isNow = row.costs.some((cost) => cost !== undefined);
  if (!isNow) return html`<span class="badge">gone</span>`;
  if (row.before.total === undefined) return isBeforeKnown ? html`<span class="badge">new</span>` : '';
  return relative(row.total, row.before.total) ?? '';
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
      head: each.key === undefined ? each.name : html`<a href="${narrowed(asked, each.key)}">${each.name}</a>`,
      isNumber: true,
      cell: ({ index }: { index: number }) => shown(each.texts[index]),
    })),
  ];
  const unit = measure === 'usage' ? (asked.filters['unit'] ?? 'usage') : measure === 'price' ? 'USD per unit' : 'USD';
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

/** The numbers of the chart, closed until somebody opens them; a link to them if there are many. */
export function longDetails(asked: Asked, explored: Explored): Markup {
  if (explored.series.length === 0) return html``;
  if (explored.labels.length > maxDetails) {
    return html`<p><a href="${addressOf(asked, { shape: 'table' })}">All numbers by ${asked.step} as a table</a></p>`;
  }
  return html`<section><details><summary>Numbers by ${asked.step}</summary>${bucketsTable(asked, explored)}</details></section>`;
}
