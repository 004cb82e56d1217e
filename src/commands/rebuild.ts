import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { markMended } from '../alerts/index.ts';
import { exitCodes, OlderBooksError, UsageError } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { counted } from '../text/counted.ts';
import {
  isWarehouse,
  loadsOfSnapshot,
  openPresentWarehouse,
  readSeal,
  snapshotFile,
  type TableComparison,
} from '../warehouse/integrity/index.ts';
import type { Command, CommandContext } from './command.ts';
import { makeWarehouse } from './rebuild-warehouse.ts';
import { openWhenFree } from './wait.ts';
import { openProjectWarehouse } from './writing-run.ts';

export const rebuildCommand: Command = {
  name: 'rebuild',
  summary:
    'Rebuild the books from the landing folder and the journal into a new file, and compare it with the current books.',
  examples: ['costbook rebuild --into /tmp/rebuilt.duckdb', 'costbook rebuild --into rebuilt.duckdb --json'],
  async run(input, context) {
    const { values, problem, check } = reading(options.rebuild, input, context);
    const { into, wait: waitMs } = values;
    if (into === undefined) problem('--into is missing: name the file to create, such as --into rebuilt.duckdb');
    check();
    expectProject(context);
    const file = resolve(context.folder, into ?? '');
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
      const isIdentical = tables?.every(({ onlyHere, onlyThere }) => onlyHere === 0 && onlyThere === 0);
      const answer = context.json
        ? JSON.stringify({ file, loads, published: isPublished, identical: isIdentical ?? null, tables: tables ?? [] })
        : describe(file, loads, tables, isPublished);
      await context.write(`${context.redact(answer)}\n`);
      return isIdentical === false ? exitCodes.unproven : exitCodes.done;
    } finally {
      present?.close();
    }
  },
};

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
async function publishAnew(context: CommandContext): Promise<void> {
  const warehouse = await openProjectWarehouse(0, context);
  try {
    context.progress('publishing the snapshot');
    await warehouse.publish();
    await markMended(context);
  } finally {
    warehouse.close();
  }
}

function describe(
  file: string,
  loads: number,
  tables: readonly TableComparison[] | undefined,
  isPublished: boolean,
): string {
  const made = `${file}: rebuilt from ${counted(loads, 'load')}`;
  if (isPublished) return `${made} and published`;
  if (tables === undefined) return `${made}; there is no current warehouse to compare with, or it has an older schema`;
  const differing = tables.filter(({ onlyHere, onlyThere }) => onlyHere > 0 || onlyThere > 0);
  if (differing.length === 0) {
    const rows = tables.map(({ table, rows }) => `${table} ${rows}`).join(', ');
    return `${made}, identical to the current warehouse row for row (${rows})`;
  }
  const lines = differing.flatMap(({ table, onlyHere, onlyThere, here, there }) => [
    `${table}: ${onlyHere} row${onlyHere === 1 ? '' : 's'} only in the current warehouse, ${onlyThere} only in the rebuilt one`,
    ...here.map((row) => `  current: ${JSON.stringify(row)}`),
    ...there.map((row) => `  rebuilt: ${JSON.stringify(row)}`),
  ]);
  return [`${made}, DIFFERENT from the current warehouse:`, ...lines].join('\n');
}
