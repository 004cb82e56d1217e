import { join } from 'node:path';
import { builtInReport, invoiceLines, readReports } from '../reports/questions/index.ts';
import { anyName } from '../text/dashboard-address.ts';
import {
  addCalendarMonths,
  dayMs,
  formatInstant,
  type Instant,
  monthName,
  parseRfc3339,
  shownInstant,
} from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { differingWords, readBooksState, readDifferingMonths } from './books-state.ts';
import { costsAddress } from './explore-question.ts';
import { sum } from './explored.ts';
import { exportsOf } from './export-files.ts';
import { exportsTable, filesOf, monthOf } from './exports-table.ts';
import { money, quantity } from './format.ts';
import { type Column, named, resourceLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';

/** The days before now whose changes an open month shows, if nobody asks for others. */
const usualDays = 7;

/** The page of a month, `2026-10`. */
export function monthAddress(month: string): string {
  return `/months/${month}`;
}

/** Everything that the page of a month shows. */
interface Month {
  /** `2026-10`. */
  readonly name: string;
  readonly start: Instant;
  /** Its row of `sql/serve/months`. */
  readonly row: SqlRow;
  /** A row per account, as the report `reconciliation_summary` has it. */
  readonly accounts: readonly SqlRow[];
  /** As the report `invoice_lines` has them. */
  readonly lines: readonly SqlRow[];
  readonly closes: readonly SqlRow[];
  readonly corrections: readonly SqlRow[];
  readonly changes: readonly SqlRow[];
  readonly since: {
    readonly day: string | undefined;
    readonly words: string;
    readonly isWrong: boolean;
    /** Null from its close on. */
    readonly from: string | null;
  };
}

/**
 * A month: whether it is final, what it bills, what the platform changed, and the files of it. Reads all costs: for
 * unrestricted viewers only.
 */
export async function monthPage(request: PageRequest): Promise<Page> {
  const { view, parts, project } = request;
  const [part] = parts;
  const name = parts.length === 1 && part?.kind === 'name' ? (part.name ?? '') : '';
  const rows = await view.rows('months');
  const row = rows.find(({ month }) => month === name);
  if (row === undefined) {
    const newest = rows.map(({ month }) => String(month)).slice(0, 3);
    return {
      ...{ path: '/months', title: 'Months', status: 404 },
      body: html`<section><h2>The books have no costs of the month ${named(name, 'without a name')}</h2><p>Expected a month such as ${newest.map((each) => html`<a href="${monthAddress(each)}">${each}</a> `)}or <a href="/months">another month</a>.</p></section>`,
    };
  }
  const month = await readMonth(request, name, row);
  const [state, differing, reports, exports] = await Promise.all([
    readBooksState(view),
    readDifferingMonths(view),
    readReports(join(project.dir, 'sql')),
    exportsOf(project.dir, { month: name }),
  ]);
  const files = filesOf(exports).filter((file) => monthOf(file) === name);
  return {
    path: '/months',
    title: monthName(month.start),
    body: html`<p>${neighbours(rows, name)}<a href="/months">All months</a> · <a href="${costsOfMonth(month.start, state.completeThrough)}">Its costs</a></p>
<p class="finding">${findingOf(month, state.completeThrough)}</p>
${differingWords(differing.filter((each) => each.month === name)).map((line) => html`<p>${line}</p>`)}
<section class="cards">${accountsTable(month)}</section>
<section class="cards">${linesTable(month)}</section>
<div class="grid"><section>${correctionsTable(month, 'in')}</section><section>${correctionsTable(month, 'out')}</section></div>
<section class="cards">${changesSection(month)}</section>
<section class="cards">${await exportsTable(
      {
        caption: `Files of ${name}`,
        files,
        empty: `None yet. "costbook statement --month ${name}" and "costbook report invoice_lines --month ${name}" write some.`,
      },
      { view, reports },
    )}</section>`,
  };
}

async function readMonth({ view, query, now }: PageRequest, name: string, row: SqlRow): Promise<Month> {
  const start = Date.parse(`${name}-01T00:00:00Z`);
  const month = formatInstant(start).slice(0, 10);
  const since = sinceOf(query.get('since'), row['state'] === 'closed', now);
  const reported = (report: string, sql: Promise<string>) =>
    view.once(`${report} ${month}`, async (connection) => connection.rows(await sql, { month }));
  const [accounts, lines, closes, corrections, changes] = await Promise.all([
    reported('reconciliation_summary', builtInReport('reconciliation_summary')),
    reported('invoice_lines', invoiceLines()),
    view.rows('month_closes', { month }),
    view.rows('month_corrections', { month }),
    view.rows('month_changes', { month, since: since.from }),
  ]);
  return { name, start, row, accounts, lines, closes, corrections, changes, since };
}

/** From when on changes are shown: a day that somebody asks for, or else the close; of an open month, the last days. */
function sinceOf(asked: string | null, isClosed: boolean, now: Instant): Month['since'] {
  const day = asked === null || asked === '' ? undefined : asked;
  const at = day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day) ? undefined : parseRfc3339(`${day}T00:00:00Z`);
  if (at !== undefined) return { day, words: `since ${day}`, isWrong: false, from: formatInstant(at) };
  const isWrong = day !== undefined;
  if (isClosed) return { day: undefined, words: 'since its close', isWrong, from: null };
  const from = formatInstant(Math.floor(now / dayMs) * dayMs - usualDays * dayMs);
  return { day: from.slice(0, 10), words: `in the last ${usualDays} days`, isWrong, from };
}

function costsOfMonth(start: Instant, completeThrough: string | null): string {
  const to = addCalendarMonths(start, 1);
  const through = completeThrough === null ? to : Date.parse(completeThrough);
  return costsAddress({ window: { from: start, to }, through, step: 'day', groupBy: 'workspace' });
}

function neighbours(rows: readonly SqlRow[], name: string): Markup[] {
  const place = rows.findIndex(({ month }) => month === name);
  return [
    { row: rows[place + 1], words: (month: string) => `← ${month}` },
    { row: rows[place - 1], words: (month: string) => `${month} →` },
  ].flatMap(({ row, words }) => {
    if (row === undefined) return [];
    const month = String(row['month']);
    return [html`<a href="${monthAddress(month)}">${words(month)}</a> · `];
  });
}

/** One sentence on whether the month is final and what it bills, and the next step, if there is one. */
function findingOf({ name, row, accounts, closes }: Month, completeThrough: string | null): Markup {
  const figure = row['state'] === 'closed' ? 'month_billed' : 'month_to_bill';
  const billed = totalOf(accounts, 'billed_cost', { figure: [figure, name] });
  const [close] = closes;
  switch (row['state']) {
    case 'closed':
      return html`${name} bills <b>${billed} USD</b>${invoiceWords(closes)} It is closed, as of ${shownInstant(String(close?.['closed_at']))}, and stays as it is.`;
    case 'settled':
      return accounts.every(({ proven }) => proven === true)
        ? html`${name} would bill <b>${billed} USD</b>. It is settled and proven, but not closed. Next: "costbook close ${name}".`
        : html`${name} bills <b>${billed} USD</b> so far. It is settled, but does not match the platform’s total yet: <a href="/health">Health</a> says what is missing.`;
    case 'complete':
      return html`${name} bills <b>${billed} USD</b> so far. It is complete, but its last days can still change.`;
    case 'open':
      return html`${name} bills <b>${billed} USD</b> so far. It is open: complete through ${completeThrough === null ? 'no hour yet' : shownInstant(completeThrough)}${row['young_cost'] === null ? '' : html`, with ${money(String(row['young_cost']), { figure: ['month_young_cost', name] })} in incomplete hours`}.`;
    default:
      return html`${name} costs <b>${billed} USD</b>, as far as the books reach: they begin within it. It cannot be closed.`;
  }
}

function invoiceWords(closes: readonly SqlRow[]): string {
  const given = closes.filter(({ invoiced }) => invoiced !== null).length;
  if (given === closes.length) return ', as invoiced.';
  if (closes.every(({ no_invoice }) => no_invoice === true)) return '. No invoice will come.';
  return given === 0 ? '. No invoice was entered yet.' : `. ${given} of ${closes.length} accounts have an invoice.`;
}

function moneyOrBlank(value: unknown, isSigned = false): Markup | string {
  return value === null || value === undefined ? '' : money(String(value), { isSigned });
}

function totalOf(rows: readonly SqlRow[], name: string, how: Parameters<typeof money>[1] = {}): Markup | string {
  const texts = rows.map((row) => row[name]).filter((value) => typeof value === 'string');
  return texts.length === 0 ? '' : money(sum(texts), how);
}

/** What each account bills, from its cost to the invoice, and what the platform says. */
function accountsTable({ accounts, closes, name, row }: Month): Markup {
  const digestOf = (account: unknown) => closes.find((close) => close['account'] === account)?.['sha256'];
  const isClosed = row['state'] === 'closed';
  const columns: Column<SqlRow>[] = [
    { head: 'Account', cell: ({ account }) => named(String(account), '') },
    {
      head: isClosed ? 'Billed' : 'Bills so far',
      isNumber: true,
      cell: ({ billed_cost }) => html`<b>${moneyOrBlank(billed_cost)}</b>`,
    },
    { head: 'Cost of the month', isNumber: true, cell: ({ cost }) => moneyOrBlank(cost) },
    {
      head: 'Corrections of earlier months',
      isNumber: true,
      cell: ({ correction_cost }) => (correction_cost === null ? 'none' : moneyOrBlank(correction_cost, true)),
    },
    { head: 'Invoice', isNumber: true, cell: ({ invoiced }) => (invoiced === null ? 'none' : moneyOrBlank(invoiced)) },
    {
      head: 'Invoice difference',
      isNumber: true,
      cell: ({ invoice_difference }) => moneyOrBlank(invoice_difference, true),
    },
    { head: 'Platform’s total', isNumber: true, cell: ({ platform_cost }) => moneyOrBlank(platform_cost) },
    {
      head: 'Reconciled',
      cell: ({ proven, hours, hours_proven, comparisons }) =>
        html`<span class="state ${proven === true ? 'good' : ''}">${proven === true ? 'matches' : `${hours_proven} of ${hours} hours`}</span> <span class="empty">${quantity(String(comparisons))} comparisons</span>`,
    },
    ...(isClosed
      ? [
          {
            head: 'SHA-256 of the close',
            cell: ({ account }: SqlRow) => {
              const digest = String(digestOf(account) ?? '');
              return html`<code title="${digest}">${digest.slice(0, 12)}…</code>`;
            },
          },
        ]
      : []),
  ];
  const foot = [
    'Total',
    totalOf(accounts, 'billed_cost', isClosed ? { figure: ['month_billed', name] } : {}),
    totalOf(accounts, 'cost', { figure: [isClosed ? 'month_closed_cost' : 'month_cost', name] }),
    totalOf(accounts, 'correction_cost', { isSigned: true }),
    totalOf(accounts, 'invoiced'),
    totalOf(accounts, 'invoice_difference', { isSigned: true }),
    totalOf(accounts, 'platform_cost'),
    '',
    ...(isClosed ? [''] : []),
  ];
  return table('What it bills, USD', columns, accounts, 'No account has this month.', foot);
}

/** The lines of the invoice, each beside the platform's total of it. */
function linesTable({ lines, accounts, row }: Month): Markup {
  const columns: Column<SqlRow>[] = [
    ...(accounts.length > 1 ? [{ head: 'Account', cell: ({ account }: SqlRow) => named(String(account), '') }] : []),
    {
      head: 'Line',
      cell: ({ charge_class, billing_dimension, incurred_month }) =>
        html`${charge_class === null ? '' : html`<span class="state">${charge_class}${charge_class === 'Correction' ? ` of ${String(incurred_month).slice(0, 7)}` : ''}</span> `}${billing_dimension === null ? '' : named(String(billing_dimension), '')}`,
    },
    { head: 'USD', isNumber: true, cell: ({ cost }) => moneyOrBlank(cost) },
    { head: 'Platform’s total', isNumber: true, cell: ({ platform_cost }) => moneyOrBlank(platform_cost) },
    {
      head: 'Difference',
      isNumber: true,
      cell: ({ difference, proven }) =>
        difference === null
          ? ''
          : html`<span class="${proven === false ? 'state bad' : ''}">${moneyOrBlank(difference, true)}</span>`,
    },
    { head: 'Usage', isNumber: true, cell: ({ usage }) => (usage === null ? '' : quantity(String(usage))) },
    { head: 'Unit', cell: ({ unit }) => (unit === null ? '' : named(String(unit), '')) },
  ];
  const foot = [
    ...(accounts.length > 1 ? [''] : []),
    'Total',
    totalOf(lines, 'cost'),
    totalOf(lines, 'platform_cost'),
    totalOf(lines, 'difference', { isSigned: true }),
    ...['', ''],
  ];
  const caption = row['state'] === 'closed' ? 'Invoice lines, as of the close' : 'Invoice lines so far';
  return table(caption, columns, lines, 'It has no line.', foot);
}

function resourceCell(row: SqlRow): Markup {
  const [type, workspace, name] = ['resource_type', 'workspace', 'resource_name'].map((key) => row[key]);
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return html`${resourceLink(text(type) ?? anyName, text(workspace), text(name))} <span class="empty">${named(text(workspace), 'no workspace')}</span>`;
}

/** Corrections of earlier months that the month bills (`in`), or of this month that later months bill (`out`). */
function correctionsTable({ corrections, name }: Month, way: 'in' | 'out'): Markup {
  const [own, other] = way === 'in' ? ['billing_month', 'usage_month'] : ['usage_month', 'billing_month'];
  const rows = corrections.filter((row) => row[own] === name && row[other] !== name);
  const columns: Column<SqlRow>[] = [
    {
      head: way === 'in' ? 'Of' : 'Billed in',
      cell: (row) => html`<a href="${monthAddress(String(row[other]))}">${row[other]}</a>`,
    },
    { head: 'Resource', cell: resourceCell },
    { head: 'Hours', isNumber: true, cell: ({ hours }) => quantity(String(hours)) },
    { head: 'USD', isNumber: true, cell: ({ cost }) => moneyOrBlank(cost, true) },
  ];
  const caption =
    way === 'in' ? 'Corrections of earlier months that it bills' : 'Corrections of it that later months bill';
  return table(caption, columns, rows, 'None.', ['Total', '', '', totalOf(rows, 'cost', { isSigned: true })], {
    most: 50,
  });
}

/** What is said where changes are shown from before the first reading of the costs. */
export function unknownBefore(since: string, readAt: string, costs: string): Markup | '' {
  if (since >= readAt) return '';
  return html`<p class="empty">Nothing is known of changes before ${shownInstant(readAt)}, when the books first had ${costs}.</p>`;
}

function changesSection({ changes, since, name, row }: Month): Markup {
  const [first] = changes;
  const readAt = String(row['first_read_at'] ?? '');
  const columns: Column<SqlRow>[] = [
    { head: 'Resource', cell: resourceCell },
    { head: 'Hours', isNumber: true, cell: ({ hours }) => quantity(String(hours)) },
    { head: 'USD', isNumber: true, cell: ({ cost }) => moneyOrBlank(cost, true) },
    { head: 'Last seen', cell: ({ seen_at }) => html`<span class="state">${shownInstant(String(seen_at))}</span>` },
  ];
  const foot =
    first === undefined
      ? undefined
      : ['Total', quantity(String(first['all_hours'])), money(String(first['all_cost']), { isSigned: true }), ''];
  return html`${table(`What the platform changed ${since.words}`, columns, changes, 'None.', foot, { most: 100 })}
${since.from === null ? '' : unknownBefore(since.from, readAt, 'costs of this month')}${since.isWrong ? html`<p class="state bad" role="alert">Expected a day such as 2026-10-20.</p>` : ''}
<form class="filters" method="get" action="${monthAddress(name)}"><label><span>Changes since</span><input type="date" name="since" value="${since.day ?? ''}"></label><button>Show</button></form>`;
}
