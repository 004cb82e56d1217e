import { revokedCloses, shownAmong } from '../reports/exports/index.ts';
import type { Report } from '../reports/questions/index.ts';
import { shownInstant } from '../time/time.ts';
import type { BooksView } from './books/index.ts';
import { canBeOpened, exportAddress, type StoredExport } from './export-files.ts';
import { money, quantity, sizeWords } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

const maxFiles = 100;

/** A file that a manifest names. */
export interface ListedFile extends StoredExport {
  readonly file: StoredExport['manifest']['files'][number];
}

/** The files of exports, in their order. */
export function filesOf(exports: readonly StoredExport[]): ListedFile[] {
  return exports.flatMap((stored) => stored.manifest.files.map((file) => ({ ...stored, file })));
}

/** The month that a file is about, `2026-10`; undefined if it is about all of them. */
export function monthOf({ manifest: { parameters }, file: { partition } }: ListedFile): string | undefined {
  const month = partition?.month ?? parameters['month'];
  return typeof month === 'string' ? month.slice(0, 7) : undefined;
}

/** Files of exports, each with a link that downloads it, its digest, and a mark if it shows a close that was revoked. */
export async function exportsTable(
  {
    caption,
    files,
    empty,
  }: { readonly caption: string; readonly files: readonly ListedFile[]; readonly empty: string },
  { view, reports }: { readonly view: BooksView; readonly reports: readonly Report[] },
): Promise<Markup> {
  const shownCloses = await shownAmong(await view.once('revoked closes', revokedCloses), reports);
  const months = new Set(files.map(monthOf)).size > 1;
  const shown = files.slice(0, maxFiles);
  return html`${table(
    caption,
    [
      ...(months
        ? [{ head: 'Month', cell: (listed: ListedFile) => html`<span class="state">${monthOf(listed) ?? ''}</span>` }]
        : []),
      {
        head: 'File',
        cell: ({ folder, file, manifest }: ListedFile) =>
          html`<a href="${exportAddress(folder, file.name)}" download>${named(file.name, '')}</a>${canBeOpened(manifest, file.name) ? html` <a href="${exportAddress(folder, file.name)}&amp;open=1">open</a>` : ''}<div class="empty small">${named(`exports/${folder}`, '')}</div>${shownCloses(manifest, folder).length > 0 ? html`<div class="state bad small">shows a close that was revoked</div>` : ''}`,
      },
      { head: 'Format', cell: ({ file }: ListedFile) => named(file.format, '') },
      {
        head: 'Rows',
        isNumber: true,
        cell: ({ file }: ListedFile) => (file.rows === null ? '' : quantity(String(file.rows))),
      },
      { head: 'USD', isNumber: true, cell: ({ file }: ListedFile) => (file.cost == null ? '' : money(file.cost)) },
      { head: 'Size', isNumber: true, cell: ({ file }: ListedFile) => sizeWords(file.bytes) },
      {
        head: 'SHA-256',
        cell: ({ file }: ListedFile) => html`<code title="${file.sha256}">${file.sha256.slice(0, 12)}…</code>`,
      },
      {
        head: 'Complete through',
        cell: ({ manifest: { completeThrough } }: ListedFile) =>
          completeThrough === null ? '' : html`<span class="state">${shownInstant(completeThrough)}</span>`,
      },
    ],
    shown,
    empty,
  )}${files.length > shown.length ? html`<p class="empty">And ${files.length - shown.length} more in the folder exports.</p>` : ''}`;
}
