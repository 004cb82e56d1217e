import { type Chart, costOverTime, pageTheme } from '../charts/index.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { shownSql } from './books/index.ts';
import { differingWords, readBooksState, readDifferingMonths } from './books-state.ts';
import { amount, incompleteWords, money, time } from './format.ts';
import { type ChartActions, figure, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import { monthAddress } from './month.ts';
import type { Page, PageRequest } from './page.ts';

/** The page of months: what each cost, whether it can still change, and what changed. */
export async function monthsPage({ view }: PageRequest): Promise<Page> {
  const [state, rows, differing] = await Promise.all([
    readBooksState(view),
    view.rows('months'),
    readDifferingMonths(view),
  ]);
  const isDiffering = (row: SqlRow) => differing.some(({ month }) => month === row['month']);
  const oldestFirst = [...rows].reverse();
  const [newest] = rows;
  const months = oldestFirst.map((row) => String(row['month']));
  const open = oldestFirst.findIndex((row) => row['state'] === 'open');
  const chart: Chart = {
    id: 'months',
    title:
      newest === undefined
        ? 'No month has costs yet'
        : `${months.length} months; ${newest['month']} (${newest['state']}) has cost ${amount(String(newest['cost']))} USD`,
    description: `Cost by month. ${oldestFirst.map((row) => `${row['month']}: ${amount(String(row['cost']))} USD`).join('. ')}.`,
    sql: await shownSql('shown_months'),
    completeThrough: state.completeThrough,
    keys: [],
    option: costOverTime(
      {
        labels: months,
        series: [{ name: 'cost', values: oldestFirst.map((row) => Number(row['cost'])) }],
        shape: 'bars',
        incompleteFrom: open < 0 ? undefined : open,
      },
      pageTheme,
    ),
  };
  return {
    path: '/months',
    title: 'Months',
    body: html`${differingWords(differing).map((line) => html`<p>${line}</p>`)}${figure(chart, { actions: actionsOf(oldestFirst) })}
<section class="cards">${table(
      'Each month',
      [
        {
          head: 'Month',
          cell: (row) =>
            html`<a href="${monthAddress(String(row['month']))}"><span class="state">${row['month']}</span></a>`,
        },
        {
          head: 'USD',
          isNumber: true,
          cell: (row) =>
            html`${money(String(row['cost']), { figure: ['month_cost', String(row['month'])] })}${incompleteWords(row['young_cost'] === null ? undefined : money(String(row['young_cost']), { figure: ['month_young_cost', String(row['month'])] }))}`,
        },
        { head: 'State', cell: (row) => stateOf(row, isDiffering(row)) },
        {
          head: 'Change',
          isNumber: true,
          cell: (row) =>
            row['change'] === null || row['state'] === 'open' ? '' : money(String(row['change']), { isSigned: true }),
        },
        {
          head: 'Reconciled',
          cell: (row) =>
            Number(row['comparisons']) === 0
              ? 'not compared'
              : row['all_proven']
                ? 'all totals match'
                : html`<span class="state bad">not all totals match</span>`,
        },
        {
          head: 'Restated',
          isNumber: true,
          cell: (row) =>
            Number(row['restated_hours']) === 0 ? 'none' : money(String(row['restated_cost']), { isSigned: true }),
        },
        {
          head: 'Changed since its close',
          isNumber: true,
          cell: (row) => (row['moved_cost'] === null ? 'none' : money(String(row['moved_cost']), { isSigned: true })),
        },
      ],
      rows,
      'No month has costs yet.',
    )}${rows.some((row) => row['moved_cost'] !== null) ? html`<p class="empty">USD has current costs. What changed since a close is a correction, which a later month bills; reports of the closed month show its cost without it.</p>` : ''}</section>`,
  };
}

/** The exact cost of each month, and its page, which the table links to as well. */
function actionsOf(rows: readonly SqlRow[]): ChartActions {
  return {
    names: rows.map((row) => `${row['month']} (${row['state']})`),
    pages: rows.map((row) => monthAddress(String(row['month']))),
    texts: { 'series-0': rows.map((row) => String(row['cost'])) },
    unit: 'USD',
  };
}

function stateOf(row: SqlRow, isDiffering: boolean): Markup {
  const state = String(row['state']);
  const closed = row['closed_at'];
  const mark = isDiffering ? 'bad' : state === 'closed' || state === 'settled' ? 'good' : '';
  return html`<span class="state ${mark}">${state}${isDiffering ? ', does not match its close' : ''}</span>${typeof closed === 'string' ? html` <span class="empty">${time(closed)}</span>` : ''}`;
}
