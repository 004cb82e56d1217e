import { shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { quantity } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import { sizeOf, textOf } from './resource-states.ts';

/** The image, snapshots and connections of a resource. */
export function partsTable(parts: readonly SqlRow[]): Markup | '' {
  if (parts.length === 0) return '';
  const instant = (name: string) => (row: SqlRow) => {
    const at = textOf(row, name);
    return at === null ? '' : shownInstant(at);
  };
  return html`<section>${table(
    'Image, snapshots and connections',
    [
      { head: 'Kind', cell: (row) => named(textOf(row, 'kind'), '') },
      { head: 'Name', cell: (row) => named(textOf(row, 'name'), '') },
      { head: 'Size', isNumber: true, cell: sizeOf },
      { head: 'Provider', cell: (row) => named(textOf(row, 'provider'), '') },
      { head: 'Created', cell: instant('created_at') },
      { head: 'Last deployed', cell: instant('last_used_at') },
    ],
    parts,
    '',
  )}</section>`;
}

/** The executions of a job beside its billed compute. */
export function executionsTable(days: readonly SqlRow[]): Markup | '' {
  if (days.length === 0) return '';
  const number = (name: string) => (row: SqlRow) => quantity(String(row[name]));
  return html`<section>${table(
    'Executions beside billed compute, in GB-seconds',
    [
      { head: 'Day', cell: (row) => String(row['day']) },
      { head: 'Executions', isNumber: true, cell: number('executions') },
      { head: 'Tasks', isNumber: true, cell: number('tasks') },
      { head: 'Of tasks', isNumber: true, cell: number('task_usage') },
      { head: 'Billed', isNumber: true, cell: number('billed_usage') },
      { head: 'Difference', isNumber: true, cell: number('difference') },
    ],
    days,
    '',
  )}<p class="empty">A single day, about once a week. What no task explains may be retries.</p></section>`;
}
