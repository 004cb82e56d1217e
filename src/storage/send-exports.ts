import { isAbsolute, relative, sep } from 'node:path';
import { UsageError } from '../base/errors.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { contentOfExport, filesOfManifest, isOfLaterBooks, type PublishedPlace } from '../reports/exports/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal } from '../text/safe-text.ts';
import { nameOfBooks } from '../warehouse/journal/index.ts';
import { holdFolder } from '../warehouse/store/index.ts';
import { type ExportToMirror, type Mirrored, mirrorExport } from './mirror.ts';
import { openStore, type StorePlace } from './open-store.ts';
import type { ObjectStore } from './store.ts';

/** How long to wait for another process that writes the same export. */
const patienceMs = 60_000;

/** What sending exports needs: where to say what was sent, unless stdout carries JSON. */
export interface SendingContext extends ProjectContext {
  readonly json: boolean;
  write(data: string): Promise<void>;
}

/** Sends published exports to a store. `root` is the local folder of all exports. Says what was sent. */
export async function sendExports(
  published: readonly PublishedPlace[],
  root: string,
  place: StorePlace,
  context: SendingContext,
): Promise<void> {
  if (published.length === 0) return;
  // The child process said so, which also runs the project's SQL.
  for (const { reportFolder, folder } of published) {
    if (isStrictlyBelow(root, reportFolder) && isStrictlyBelow(root, folder)) continue;
    throw new Error(`${reportFolder} and ${folder} are not below the folder of all exports`);
  }
  const books = await nameOfBooks(context.dir);
  const store = await openStore(place, context);
  try {
    for (const each of published) {
      const remote = relative(root, each.folder).split(sep).join('/');
      const mirrored = await sendExport(store, each, { remote, books }, context);
      if (!context.json) await context.write(`${describe(forTerminal(`${store.url}/${remote}`), mirrored)}\n`);
    }
  } finally {
    store.close();
  }
}

function isStrictlyBelow(root: string, folder: unknown): boolean {
  if (typeof folder !== 'string') return false;
  const path = relative(root, folder);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

async function sendExport(
  store: ObjectStore,
  { reportFolder, folder }: PublishedPlace,
  to: Pick<ExportToMirror, 'remote' | 'books'>,
  { dir, signal, tell, progress }: SendingContext,
): Promise<Mirrored> {
  // Another process that writes this export would replace files while they are sent.
  const lock = await holdFolder(reportFolder, { patienceMs, signal });
  try {
    const content = await contentOfExport(folder);
    if (content === undefined) throw new UsageError(`${folder} has no manifest any more: run the report again`);
    return await mirrorExport(
      store,
      {
        ...{ folder, content, ...to },
        filesOf: (text) => filesOfManifest(content.manifestName, text),
        isOfLaterBooks: (text) => isOfLaterBooks(dir, folder, { stored: text, own: content.manifest }),
      },
      { signal, tell, progress },
    );
  } finally {
    lock.release();
  }
}

function describe(url: string, { sent, bytes, removed, isUnchanged }: Mirrored): string {
  if (isUnchanged) return `${url} (unchanged)`;
  const gone = removed === 0 ? '' : `, ${counted(removed, 'old file')} removed`;
  return `${url}: ${counted(sent, 'file')} sent (${bytes} bytes)${gone}`;
}
