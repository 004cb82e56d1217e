import { stat } from 'node:fs/promises';
import { OlderBooksError, UsageError } from '../base/errors.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { expectProject } from '../base/project-folder.ts';
import {
  isWarehouse,
  loadsOfSnapshot,
  openPresentWarehouse,
  readSeal,
  snapshotFile,
  type TableComparison,
} from '../warehouse/integrity/index.ts';
import { makeWarehouse } from './make-warehouse.ts';
import { openProjectWarehouse, openWhenFree } from './project-warehouse.ts';

/** Books that were rebuilt into a file. */
export interface Rebuilt {
  /** Loads that they were made of. */
  readonly loads: number;
  /** Whether the file is that of the project, so that it was published. */
  readonly isPublished: boolean;
  /** How each table compares with the current books; undefined if there are none of this schema. */
  readonly tables: readonly TableComparison[] | undefined;
}

/** Rebuilds the books from landing folder and journal into a new file, and compares it with the current books. */
export async function rebuildInto(file: string, waitMs: number, context: ProjectContext): Promise<Rebuilt> {
  expectProject(context);
  await refuseExisting(file);
  if (file === snapshotFile(context.dir)) {
    throw new UsageError('--into names the snapshot; run "costbook repair" to recreate that');
  }

  const opening = openWhenFree(() => openPresentWarehouse(context.dir, context.signal), waitMs, context);
  // The rows of an older schema cannot be compared; the snapshot's seal says how much there must be.
  const present = await opening.catch((error: unknown) => {
    if (error instanceof OlderBooksError) return undefined;
    throw error;
  });
  try {
    const asked = {
      throughEvent: present?.lastEvent,
      throughLoad: present?.lastLoadNumber,
      inBooks: present?.lastEvent ?? (await lastPublishedEvent(context.dir)),
      loadsInBooks: () => present?.loads() ?? loadsOfSnapshot(context.dir, context.signal),
    };
    const { loads } = await makeWarehouse(file, asked, context);
    const isPublished = isWarehouse(context.dir, file);
    if (isPublished) await publishAnew(context);
    const tables = await present?.compareWith(file);
    return { loads, isPublished, tables };
  } finally {
    present?.close();
  }
}

/** The last journal event in the snapshot; undefined if it cannot be used. */
async function lastPublishedEvent(dir: string): Promise<number | undefined> {
  const found = await readSeal(snapshotFile(dir)).catch(() => undefined);
  return found?.state === 'intact' ? found.seal.lastEvent : undefined;
}

async function refuseExisting(file: string): Promise<void> {
  const isThere = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  if (isThere) throw new UsageError(`--into: ${file} already exists; choose another name, or remove it first`);
}

/** Publishes a warehouse that was rebuilt in place. */
async function publishAnew(context: ProjectContext): Promise<void> {
  const warehouse = await openProjectWarehouse(0, context);
  try {
    context.progress('publishing the snapshot');
    await warehouse.publish();
  } finally {
    warehouse.close();
  }
}
