import { shownInstant } from '../shown-time.ts';
import { formatInstant, hourMs } from '../time.ts';
import { readBooksState } from './books-state.ts';
import { money } from './format.ts';
import { named, table } from './layout.ts';
import { html } from './markup.ts';
import type { Page, PageRequest } from './page.ts';

/** The page for whoever is on call: is everything proven and fresh, and how did the last runs end? */
export async function healthPage({ view, now }: PageRequest): Promise<Page> {
  const [state, accounts, runs, compared] = await Promise.all([
    readBooksState(view),
    view.rows('account_health'),
    view.rows('last_runs'),
    view.rows('reconciled_days', { since: formatInstant(now - 90 * 24 * hourMs) }),
  ]);
  const age =
    state.completeThrough === null ? undefined : Math.floor((now - Date.parse(state.completeThrough)) / hourMs);
  return {
    path: '/health',
    title: 'Health',
    body: html`<dl class="tiles">
<div class="tile"><dt>Complete through</dt><dd><span class="big">${state.completeThrough === null ? 'nothing yet' : shownInstant(state.completeThrough).slice(0, 16)}</span><div class="note">${age === undefined ? '' : `${age} h ago`}</div></dd></div>
<div class="tile"><dt>Settled through</dt><dd><span class="big">${state.settledThrough === null ? 'nothing yet' : shownInstant(state.settledThrough).slice(0, 16)}</span><div class="note">the platform should no longer change hours before this</div></dd></div>
</dl>
<section>${table(
      'Accounts',
      [
        { head: 'Account', cell: (row) => named(String(row['account']), '') },
        { head: 'Complete through', cell: (row) => String(row['complete_through'] ?? 'nothing yet') },
        { head: 'Unproven windows', isNumber: true, cell: (row) => Number(row['unproven']) },
        { head: 'Role', cell: (row) => String(row['role'] ?? 'not known yet') },
      ],
      accounts,
      'The books have no account yet.',
    )}</section>
<section>${table(
      'Compared with the platform’s totals, by day of the comparison',
      [
        { head: 'Day', cell: (row) => String(row['day']) },
        { head: 'Comparisons', isNumber: true, cell: (row) => Number(row['comparisons']) },
        {
          head: 'Did not match',
          isNumber: true,
          cell: (row) =>
            html`<span class="${Number(row['failed']) > 0 ? 'state bad' : ''}">${Number(row['failed'])}</span>`,
        },
        { head: 'Largest difference, USD', isNumber: true, cell: (row) => money(String(row['difference'])) },
      ],
      compared,
      'Nothing was compared in the last 90 days.',
    )}</section>
<section>${table(
      'Last runs',
      [
        { head: 'Run', isNumber: true, cell: (row) => String(row['run_number']) },
        { head: 'Command', cell: (row) => String(row['command']) },
        { head: 'Started', cell: (row) => String(row['started_at']) },
        { head: 'Ended', cell: (row) => String(row['ended_at'] ?? '') },
        {
          head: 'Outcome',
          cell: (row) => html`<span class="state ${row['outcome'] === 'failed' ? 'bad' : ''}">${row['outcome']}</span>`,
        },
        { head: 'Error', cell: (row) => named(row['error'] === null ? '' : String(row['error']), '') },
      ],
      runs,
      'Nothing has run yet.',
    )}</section>`,
  };
}
