import { type Chart, costOverTime, keysOf, pageTheme, rankedBars, restName } from '../charts/index.ts';
import { plainDecimal, usdUnit, withSeparators } from '../money/money.ts';
import type { TableAnswer } from '../query/index.ts';
import { otherDecimals } from '../reports/formats/index.ts';
import { isNumber, roleOf } from '../tables/column.ts';
import { withoutConstants, writerOf } from '../tables/shown.ts';
import { oneLine } from '../text/safe-text.ts';
import { cellPage } from './answer-pages.ts';
import type { Screen } from './child-work.ts';
import { sumOf } from './explored.ts';
import { type Figure, money } from './format.ts';
import { type ChartActions, named, type SortedTable, sortLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

/** Longer texts in a cell would push everything else away. */
const maxCellLength = 200;
const maxBlockLength = 8000;
const maxChartRows = 400;
const maxSeries = 7;
const maxRankedRows = 12;

type AnswerColumn = TableAnswer['columns'][number];

interface AnswerShown {
  /** The sums that are figures of the catalogue, by their columns. */
  readonly figures?: Readonly<Record<string, Figure>>;
  /** How it is sorted; it cannot be sorted otherwise by default. */
  readonly sorted?: SortedTable | undefined;
}

/**
 * Rows of any answer as a table, laid out as on a terminal: numbers rounded alike, exact on hover; the important columns first;
 * what all rows have in common once, above them; the sums of all rows, marked as the figures that they are, below.
 */
export function answerTable(
  caption: string,
  answer: TableAnswer & Screen,
  { figures = {}, sorted }: AnswerShown = {},
): Markup {
  const { rows, important = [], totals = {}, currency } = answer;
  const [decimals, converted] = [otherDecimals(currency), Object.values(currency?.columns ?? {})];
  const place = ({ name }: AnswerColumn) => (important.includes(name) ? important.indexOf(name) : important.length);
  const columns = answer.columns
    .toSorted((one, other) => place(one) - place(other))
    .map((column, index) => {
      const cells = rows.map((row) => textOf(row[column.name]));
      const write = writerOf({ ...column, decimals: decimals.get(column.name) }, cells) ?? ((cell: string) => cell);
      const unit = roleOf(column) === 'money' && !converted.includes(column.name) ? usdUnit : '';
      return { ...column, index, cells, write, unit };
    });
  type Shown = (typeof columns)[number];
  const lines = rows.map((_, row) => columns.map(({ cells, write }) => write(cells[row] ?? '')));
  const { varied, constant } = withoutConstants(columns, lines);
  const cell = (column: Shown, row: TableAnswer['rows'][number]) => {
    const [shown, page] = [cellOf(column, textOf(row[column.name])), cellPage(answer, row, column.name)];
    return page === undefined || shown === '' ? shown : html`<a href="${page}">${shown}</a>`;
  };
  const first = varied.find(({ name }) => !(name in totals));
  const totalOf = (column: Shown) =>
    column === first ? 'Total' : cellOf(column, totals[column.name] ?? undefined, figures[column.name]);
  return table(
    caption,
    varied.map((column) => ({
      head: html`${column.name.split(/(?<=_)/).map((part) => html`${oneLine(part, maxCellLength)}<wbr>`)}`,
      isNumber: isNumber(column),
      sort: sorted && sortLink(column.name, isNumber(column), sorted),
      cell: (row: TableAnswer['rows'][number]) => cell(column, row),
    })),
    rows,
    'No row.',
    Object.keys(totals).length === 0 ? undefined : varied.map(totalOf),
    {
      hasFiles: true,
      facts: constant.map((column) => {
        const value = cell(column, rows[0] ?? {});
        return html`${oneLine(column.name, maxCellLength)} ${value === '' ? 'empty' : html`<b>${value}</b>`}`;
      }),
    },
  );
}

function isTime(column: AnswerColumn): boolean {
  return ['date', 'month', 'instant'].includes(roleOf(column));
}

/** A value as the terminal has it; undefined for none. */
function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number') return plainDecimal(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cellOf(
  column: AnswerColumn & { readonly unit: string; write(cell: string): string },
  text: string | undefined,
  figure?: Figure,
): Markup | string {
  if (text === undefined) return '';
  if (isNumber(column)) {
    return money(text, { unit: column.unit, shown: withSeparators(column.write(text)), ...(figure && { figure }) });
  }
  if (isTime(column))
    return html`<span class="state">${column.write(text).replace(/T(\d\d:\d\d)(:00)?Z$/, ' $1')}</span>`;
  if (text.includes('\n')) return html`<pre>${blockOf(text)}</pre>`;
  return oneLine(text, maxCellLength);
}

/** Several lines, such as a plan. */
function blockOf(text: string): string {
  const lines = text.slice(0, maxBlockLength).split('\n');
  return lines.map((line) => oneLine(line)).join('\n');
}

/**
 * Rows as bars or lines over the first column, if that is a time or a text: one number, or one line per value of a second
 * text. Undefined if rows have no such shape.
 */
export function answerChart(
  answer: TableAnswer,
  sql: string,
): { readonly chart: Chart; readonly actions: ChartActions } | undefined {
  const { columns, rows } = answer;
  const [first, second] = columns;
  if (first === undefined || rows.length < 2 || isNumber(first) || !(isTime(first) || first.type === 'VARCHAR')) {
    return undefined;
  }
  const number = columns.slice(1).find(isNumber);
  if (number !== undefined && !isTime(first)) return rankedChart(answer, sql, first, number);
  if (number === undefined) return undefined;
  const key = isTime(first) && second?.type === 'VARCHAR' ? second : undefined;
  const ordered = isTime(first) ? inTimeOrder(rows, first.name) : rows;
  const shown = ordered.slice(0, maxChartRows * (key === undefined ? 1 : maxSeries));
  const labels = [...new Set(shown.map((row) => String(row[first.name] ?? 'none')))].slice(0, maxChartRows);
  const series = seriesOf(shown, labels, { first, number, key });
  const chart = {
    id: 'answer',
    title: `${oneLine(number.name, 80)} by ${oneLine(first.name, 80)}${key === undefined ? '' : ` and ${oneLine(key.name, 80)}`}${rows.length > shown.length ? ', first rows' : ''}`,
    description: `${labels.length} values of ${oneLine(first.name, 80)}.`,
    sql,
    completeThrough: answer.completeThrough,
    keys: keysOf(series),
    option: costOverTime(
      {
        labels: labels.map((label) => oneLine(label.replace(/T00:00:00Z$/, ''), 28)),
        series,
        shape: isTime(first) && labels.length > 62 ? 'lines' : 'bars',
      },
      pageTheme,
    ),
  };
  const byLabel = new Map(shown.map((row) => [String(row[first.name] ?? 'none'), row]));
  const pageOf = (label: string) => cellPage(answer, byLabel.get(label) ?? {}, first.name) ?? null;
  return { chart, actions: { names: labels, pages: labels.map(pageOf), ...exactOf(series, number) } };
}

/** Texts with a number each, as bars: the first rows, in their order. */
function rankedChart(answer: TableAnswer, sql: string, first: AnswerColumn, number: AnswerColumn) {
  const shown = answer.rows.slice(0, maxRankedRows);
  const labels = shown.map((row) => named(row[first.name] === null ? null : String(row[first.name]), 'none'));
  const values = shown.map((row) => drawn(row[number.name]));
  const series = [{ name: oneLine(number.name, 80), values, texts: shown.map((row) => exactSum([row[number.name]])) }];
  const chart = {
    id: 'answer',
    title: `${oneLine(number.name, 80)} by ${oneLine(first.name, 80)}${answer.rows.length > shown.length ? `, the first ${shown.length} rows` : ''}`,
    description: `${labels[0]}: ${values[0]}.`,
    ...{ sql, completeThrough: answer.completeThrough, keys: [] },
    option: rankedBars({ labels, series }, pageTheme),
  };
  const pages = shown.map((row) => cellPage(answer, row, first.name) ?? null);
  return { chart, actions: { names: labels, pages, ...exactOf(series, number) } };
}

interface ExactAnswer {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly texts: readonly (string | null)[];
}

function exactOf(series: readonly ExactAnswer[], number: AnswerColumn): Pick<ChartActions, 'texts' | 'unit'> {
  return {
    texts: Object.fromEntries(series.map(({ texts }, place) => [`series-${place}`, texts])),
    unit: roleOf(number) === 'money' ? 'USD' : '',
  };
}

/** The exact sum of the numbers of an answer: decimals stay exact, others are floating-point; null for none. */
function exactSum(values: readonly unknown[]): string | null {
  const texts = values.flatMap((value) => {
    const number = drawn(value);
    return number === null ? [] : [typeof value === 'string' ? value : plainDecimal(number)];
  });
  if (texts.length === 0) return null;
  if (texts.length === 1) return texts[0] ?? null;
  if (!texts.every((text) => /^-?\d+(\.\d+)?$/.test(text)))
    return String(texts.reduce((all, text) => all + Number(text), 0));
  return sumOf(texts, Math.max(...texts.map((text) => text.split('.')[1]?.length ?? 0)));
}

/** A number for a chart; null for none, and for what no axis holds. */
function drawn(value: unknown): number | null {
  const number = value === null || value === undefined ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

function inTimeOrder(rows: TableAnswer['rows'], name: string): TableAnswer['rows'] {
  return [...rows].sort((a, b) => (String(a[name]) < String(b[name]) ? -1 : String(a[name]) > String(b[name]) ? 1 : 0));
}

/** The largest values of the key are a series each, and the others together; without a key there is one. */
function seriesOf(
  rows: TableAnswer['rows'],
  labels: readonly string[],
  columns: { readonly first: AnswerColumn; readonly number: AnswerColumn; readonly key: AnswerColumn | undefined },
): ExactAnswer[] {
  const { first, number, key } = columns;
  const places = new Map(labels.map((label, index) => [label, index]));
  const found = new Map<unknown, { name: string; values: unknown[][]; total: number }>();
  for (const row of rows) {
    const place = places.get(String(row[first.name] ?? 'none'));
    const value = drawn(row[number.name]);
    if (place === undefined || value === null) continue;
    const raw = key === undefined ? number.name : row[key.name];
    const name = key === undefined ? number.name : named(raw == null ? null : String(raw), `no ${key.name}`);
    // Different values may look alike: no value and the text "none", or long names that begin alike.
    const own = found.get(raw) ?? { name, values: labels.map((): unknown[] => []), total: 0 };
    own.values[place]?.push(row[number.name]);
    own.total += value;
    found.set(raw, own);
  }
  const sorted = [...found].sort(([, a], [, b]) => b.total - a.total);
  const exact = (name: string, values: readonly (readonly unknown[])[]): ExactAnswer => {
    const texts = values.map(exactSum);
    return { name: oneLine(name, 80), texts, values: texts.map(drawn) };
  };
  const largest = sorted.slice(0, maxSeries).map(([, { name, values }]) => exact(name, values));
  const others = sorted.slice(maxSeries).map(([, own]) => own);
  if (others.length === 0) return largest;
  return [
    ...largest,
    exact(
      restName,
      labels.map((_, index) => others.flatMap(({ values }) => values[index] ?? [])),
    ),
  ];
}
