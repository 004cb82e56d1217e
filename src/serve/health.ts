import { formatInstant, hourMs, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { readBooksState } from './books-state.ts';
import { coverageCalendar } from './calendar.ts';
import { money, time } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import { problemsSection, statusOf } from './problems.ts';
import { textOf } from './resource-states.ts';
import { firstRows } from './table-files.ts';

/** The page for whoever is on call: is everything proven and fresh, and how did the last runs end? */
export async function healthPage(request: PageRequest): Promise<Page> {
  const { view, now } = request;
  const [status, state, accounts, runs, steps, listings, messages, calendar, compared] = await Promise.all([
    view.scope.kind === 'all' ? statusOf(request) : undefined,
    readBooksState(view),
    view.rows('account_health'),
    firstRows(view, 'last_runs', { most: 20 }),
    firstRows(view, 'last_steps', { most: 60 }),
    firstRows(view, 'last_listings', { most: 100 }),
    firstRows(view, 'last_messages', { most: 30 }),
    coverageCalendar(view, now),
    firstRows(view, 'reconciled_days', { most: 30, since: formatInstant(now - 90 * 24 * hourMs) }),
  ]);
  const age =
    state.completeThrough === null ? undefined : Math.floor((now - Date.parse(state.completeThrough)) / hourMs);
  return {
    path: '/health',
    title: 'Health',
    body: html`<dl class="tiles">
<div class="tile"><dt>Complete through</dt><dd><span class="medium">${state.completeThrough === null ? 'nothing yet' : shownInstant(state.completeThrough)}</span><div class="note">${age === undefined ? '' : `${age} h ago`}</div></dd></div>
<div class="tile"><dt>Settled through</dt><dd><span class="medium">${state.settledThrough === null ? 'nothing yet' : shownInstant(state.settledThrough)}</span><div class="note">the platform should no longer change hours before this</div></dd></div>
</dl>
${status === undefined ? '' : problemsSection(status.problems)}
${calendar}
<section>${table(
      'Accounts',
      [
        { head: 'Account', cell: (row) => named(String(row['account']), '') },
        {
          head: 'Complete through',
          cell: (row) =>
            html`${time(row['complete_through']) || 'nothing yet'}${row['is_ended'] === true ? ', no longer configured' : ''}`,
        },
        { head: 'Unproven windows', isNumber: true, cell: (row) => Number(row['unproven']) },
        { head: 'Role', cell: (row) => String(row['role'] ?? 'not known yet') },
      ],
      accounts,
      'The books have no account yet.',
    )}</section>
<section>${table(
      'Compared with the platform’s totals, by day of the comparison',
      [
        { head: 'Day', cell: (row) => html`<span class="state">${row['day']}</span>` },
        { head: 'Comparisons', isNumber: true, cell: (row) => Number(row['comparisons']) },
        {
          head: 'Did not match',
          isNumber: true,
          cell: (row) =>
            html`<span class="${Number(row['failed']) > 0 ? 'state bad' : ''}">${Number(row['failed'])}</span>`,
        },
        { head: 'Largest difference, USD', isNumber: true, cell: (row) => money(String(row['difference'])) },
      ],
      compared.rows,
      'Nothing was compared in the last 90 days.',
      undefined,
      compared,
    )}</section>
<section>${table(
      'Last runs',
      [
        { head: 'Run', isNumber: true, cell: (row) => String(row['run_number']) },
        { head: 'Command', cell: (row) => String(row['command']) },
        { head: 'Started', cell: (row) => time(row['started_at']) },
        { head: 'Ended', cell: (row) => time(row['ended_at']) },
        {
          head: 'Outcome',
          cell: (row) => html`<span class="state ${row['outcome'] === 'failed' ? 'bad' : ''}">${row['outcome']}</span>`,
        },
        { head: 'Error', cell: (row) => named(row['error'] === null ? '' : String(row['error']), '') },
      ],
      runs.rows,
      'Nothing has run yet.',
      undefined,
      runs,
    )}</section>
<section>${table(
      'Steps of the last three jobs',
      [
        { head: 'Run', isNumber: true, cell: (row) => String(row['run_number']) },
        { head: 'Step', cell: (row) => String(row['step']) },
        { head: 'Started', cell: (row) => time(row['started_at']) },
        { head: 'Seconds', isNumber: true, cell: (row) => String(row['seconds'] ?? '') },
        { head: 'Outcome', cell: (row) => outcomeCell(row, 'done') },
        { head: 'Error and next step', cell: errorCell },
      ],
      steps.rows,
      'No job has run yet.',
      undefined,
      steps,
    )}</section>
<section>${table(
      'Listings of resources',
      [
        { head: 'Account', cell: (row) => named(String(row['account']), '') },
        { head: 'Token of', cell: (row) => named(textOf(row, 'token_workspace'), 'the account') },
        { head: 'Type', cell: (row) => named(String(row['resource_type']), '') },
        { head: 'Read', cell: (row) => time(row['read_at']) },
        { head: 'Outcome', cell: (row) => outcomeCell(row, 'read') },
        { head: 'Resources', isNumber: true, cell: (row) => String(row['resources'] ?? '') },
        { head: 'Reason and next step', cell: errorCell },
      ],
      listings.rows,
      'No listing was read yet.',
      undefined,
      listings,
    )}</section>
<section>${table(
      'Last messages to sinks',
      [
        { head: 'Sink', cell: (row) => named(String(row['sink']), '') },
        { head: 'Message', cell: (row) => named(textOf(row, 'summary') ?? textOf(row, 'kind'), '') },
        { head: 'Queued', cell: (row) => time(row['queued_at']) },
        { head: 'Outcome', cell: (row) => outcomeCell(row, 'delivered') },
        { head: 'Tries', isNumber: true, cell: (row) => String(row['tries'] ?? '') },
        { head: 'Reason', cell: errorCell },
      ],
      messages.rows,
      'No message was sent yet.',
      undefined,
      messages,
    )}</section>`,
  };
}

/** An outcome, marked unless it is the good one. */
function outcomeCell(row: SqlRow, good: string): Markup {
  const outcome = String(row['outcome'] ?? '');
  const mark = outcome === good ? '' : ['failed', 'refused', 'dead'].includes(outcome) ? 'bad' : 'warn';
  return html`<span class="state ${mark}">${outcome}</span>`;
}

/** What went wrong, and what to do about it. */
function errorCell(row: SqlRow): Markup {
  const error = textOf(row, 'error') ?? textOf(row, 'reason') ?? '';
  const next = textOf(row, 'next_step');
  return html`${named(error, '')}${next === null ? '' : html`<br>${named(next, '')}`}`;
}
