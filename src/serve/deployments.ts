import { type Deployment, deploymentsOf, eventWords, settingWords, whenWords } from '../anomalies/index.ts';
import { resourceAddress } from '../text/dashboard-address.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

/** A table shows this many. */
const shown = 50;

/** What was deployed or changed of one resource, newest first. */
export function deploymentsTable(rows: readonly SqlRow[]): Markup {
  return table(
    'Deployments and changes, newest first',
    [...columns, { head: 'Costs', cell: ({ by }) => html`<a href="?since=${by.slice(0, 10)}#cost">since then</a>` }],
    deploymentsOf(rows),
    'No listing has a deployment or a change of this resource. Listings of sandboxes have no deployments.',
    undefined,
    { most: shown },
  );
}

/** What was deployed or changed of the drivers of an anomaly before its first hour; undefined where it is not known. */
export function deploymentsBeforeTable(deployments: string | null): Markup {
  return table(
    'Deployed or changed in the 48 hours before, or on its first day',
    [
      {
        head: 'Resource',
        cell: ({ resourceType, workspace, resourceName }: Deployment) =>
          html`<a href="${resourceAddress(resourceType, workspace, resourceName)}">${named(resourceName, '')}</a>`,
      },
      ...columns,
    ],
    deployments === null ? [] : (JSON.parse(deployments) as Deployment[]),
    deployments === null
      ? 'Not known: they were not evaluated for this anomaly.'
      : 'No listing shows a deployment or a change of its drivers in that time.',
  );
}

/** `deployed revision 7; memory 2048 → 4096 MB`. Each part is shortened on its own, so that a long name hides no setting. */
export function deploymentWords(row: Deployment): string {
  return [eventWords(row) ?? 'changed', ...row.settings.map((setting) => settingWords([setting]))]
    .map((words) => named(words, ''))
    .join('; ');
}

const columns = [
  { head: 'When', cell: (row: Deployment) => html`<span class="state">${whenWords(row)}</span>` },
  {
    head: 'What',
    cell: deploymentWords,
  },
  { head: 'Message', cell: ({ event }: Deployment) => named(event?.message, '') },
];
