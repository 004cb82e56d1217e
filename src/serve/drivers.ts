import { difference, moneyOf, moneyText, rounded, wholeOfDecimal } from '../money/money.ts';
import { resourceAddress } from '../text/dashboard-address.ts';
import { addCalendarMonths, floorMonth, formatInstant, formatMonth } from '../time/time.ts';
import type { BooksView } from './books/index.ts';
import { wholeSeries } from './dimensions.ts';
import type { Asked } from './explore-question.ts';
import { type ExploredSeries, readExplored, usageDecimals } from './explored.ts';
import { type Figure, money } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

const driverCount = 10;

/**
 * What makes most of the difference between two chosen periods: of each resource and billing dimension, and how much of it
 * comes from the price and from usage. Nothing if nobody chose a period, or if nothing is compared.
 */
export async function driversSection(view: BooksView, asked: Asked): Promise<Markup> {
  const { before, measure, against } = asked;
  if (before === undefined || measure !== 'cost' || against === undefined) return html``;
  const { series, total, totalBefore } = await readExplored(view, {
    ...{ ...asked, groupBy: wholeSeries, step: 'month', top: driverCount, byChange: true },
  });
  const change = (row: ExploredSeries) => difference(row.total, row.before.total ?? '0');
  const rows = series.toSorted(
    (one, other) =>
      Number(one.isRest) - Number(other.isRest) || Math.abs(Number(change(other))) - Math.abs(Number(change(one))),
  );
  const isFree = await onlyAllowances(view, asked, rows);
  const effects = new Map(rows.map((row) => [row, effectsOf(row, isFree(row))]));
  const signed = (text: string | undefined, figure?: Figure) =>
    text === undefined ? '' : money(text, { isSigned: true, ...(figure && { figure }) });
  return html`<section>${table(
    'What makes the difference',
    [
      { head: 'Resource', cell: resourceOf },
      { head: 'Change', isNumber: true, cell: (row) => signed(change(row), figureOf(asked, row)) },
      { head: 'By price', isNumber: true, cell: (row) => signed(effects.get(row)?.price) },
      { head: 'By usage', isNumber: true, cell: (row) => signed(effects.get(row)?.usage) },
      { head: 'Before', isNumber: true, cell: (row) => money(row.before.total ?? '0') },
      { head: 'USD', isNumber: true, cell: (row) => money(row.total) },
      { head: 'Workspace', cell: ({ key }) => named(partsOf(key)[0], '') },
      { head: 'Billing dimension', cell: ({ key }) => named(partsOf(key)[3], '') },
    ],
    rows,
    'There is no difference.',
    ['Total', signed(difference(total, totalBefore)), '', '', money(totalBefore), money(total), '', ''],
  )}<p class="empty">By price and by usage where both periods have usage: the usage of now at the price of before divides them. Where further units cost as much as before, so that only a free allowance was used up or left, all is by usage.</p></section>`;
}

/** Workspace, type, name and billing dimension of a driver; none of the rest. */
function partsOf(key: string | undefined): readonly (string | null)[] {
  return key === undefined ? [] : (JSON.parse(key) as (string | null)[]);
}

function resourceOf({ key, name }: ExploredSeries): Markup | string {
  const [workspace, type, resource] = partsOf(key);
  if (key === undefined) return name;
  if (resource == null || type == null) return named(type, 'no name');
  return html`<a href="${resourceAddress(type, workspace ?? null, resource)}">${named(resource, 'no name')}</a>`;
}

/** The rates of two windows differ by less than this where the price is the same: costs of hours are rounded. */
const sameRate = 0.005;

/** Whether one more unit costs as much as before: then no price changed, only what was used of a free allowance. */
async function onlyAllowances(
  view: BooksView,
  { from, to, before = { from, to: from } }: Asked,
  rows: readonly ExploredSeries[],
): Promise<(row: ExploredSeries) => boolean> {
  const series = rows.flatMap(({ key }) => {
    const [workspace, resource_type, resource_name, billing_dimension] = partsOf(key);
    return key === undefined ? [] : [{ key, workspace, resource_type, resource_name, billing_dimension }];
  });
  const found = await view.rows('marginal_rates', {
    ...{ series: JSON.stringify(series), from: formatInstant(from), to: formatInstant(to) },
    ...{ before_from: formatInstant(before.from), before_to: formatInstant(before.to) },
  });
  const rateOf = (key: string | undefined, isBefore: boolean) =>
    Number(found.find((row) => row['key'] === key && row['is_before'] === isBefore)?.['rate'] ?? Number.NaN);
  return ({ key, before: earlier }) => {
    const [now, then] = [rateOf(key, false), rateOf(key, true)];
    // All of it was free.
    if (Number(earlier.total ?? 0) === 0) return true;
    return now > 0 && Math.abs(now - then) <= sameRate * now;
  };
}

/**
 * A change divided as in the report price_volume: its two parts add up to it. All is by usage if the price of further units is the
 * same. Undefined without usage in both periods.
 */
function effectsOf(
  { total, usage, before }: ExploredSeries,
  isSamePrice: boolean,
): { price: string; usage: string } | undefined {
  if (usage === undefined || before.usage === undefined || before.total === undefined) return undefined;
  const [now, earlier] = [wholeOfDecimal(usage, usageDecimals), wholeOfDecimal(before.usage, usageDecimals)];
  if (now <= 0n || earlier <= 0n) return undefined;
  const atOldPrice = isSamePrice ? moneyOf(total) : rounded(moneyOf(before.total) * now, earlier);
  return { price: difference(total, moneyText(atOldPrice)), usage: difference(moneyText(atOldPrice), before.total) };
}

/** The figure of the catalogue: of a month so far without filters, beside the same hours of the month before. */
function figureOf({ from, to, through, before, filters }: Asked, { key }: ExploredSeries): Figure | undefined {
  const isMonth = floorMonth(from) === from && to === through && through <= addCalendarMonths(from, 1);
  const isUsual = before?.from === addCalendarMonths(from, -1) && Object.keys(filters).length === 0;
  return key === undefined || !isMonth || !isUsual
    ? undefined
    : ['series_change', [formatMonth(from), ...partsOf(key).map((part) => part ?? '')].join('/')];
}
