import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { markMended } from '../alerts/index.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { expectProject } from '../project-folder.ts';
import {
  isWarehouse,
  loadsOfSnapshot,
  openPresentWarehouse,
  snapshotFile,
  type TableComparison,
} from '../warehouse/index.ts';
import type { Command, CommandContext } from './command.ts';
import { makeWarehouse } from './make-warehouse.ts';
import { optionReader } from './options.ts';
import { openWhenFree, waitOption } from './wait.ts';
import { openProjectWarehouse } from './writing-run.ts';

export const rebuildCommand: Command = {
  name: 'rebuild',
  summary: 'Make the books anew from the landing folder and the journal, and compare them with the present ones.',
  options: [{ flags: '--into <file>', summary: 'the DuckDB file to make; it must not exist' }, waitOption],
  examples: ['costbook rebuild --into /tmp/rebuilt.duckdb', 'costbook rebuild --into rebuilt.duckdb --json'],
  async run(input, context) {
    const options = optionReader(input, context.effects.now());
    const into = options.text('into');
    if (into === undefined) options.problem('--into is missing: name a file to make, such as --into rebuilt.duckdb');
    const waitMs = options.duration('wait') ?? 0;
    options.check();
    expectProject(context);
    const file = resolve(into ?? '');
    await refuseExisting(file);
    if (file === snapshotFile(context.dir)) {
      throw new UsageError('--into: this is the place of the snapshot; run "costbook repair" to make that anew');
    }

    const present = await openWhenFree(() => openPresentWarehouse(context.dir, context.signal), waitMs, context);
    try {
      const asked = {
        throughEvent: present?.lastEvent,
        throughLoad: present?.lastLoadNumber,
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

async function refuseExisting(file: string): Promise<void> {
  const isThere = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  if (isThere) throw new UsageError(`--into: ${file} exists already; name a file that does not, or remove it first`);
}

/** Publishes a warehouse that was made anew in its own place. */
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
  const made = `${file}: ${loads} loads made anew`;
  if (isPublished) return `${made} and published`;
  if (tables === undefined) return `${made}; there is no present warehouse to compare with`;
  const differing = tables.filter(({ onlyHere, onlyThere }) => onlyHere > 0 || onlyThere > 0);
  if (differing.length === 0) {
    const rows = tables.map(({ table, rows }) => `${table} ${rows}`).join(', ');
    return `${made}, identical with the present warehouse row for row (${rows})`;
  }
  const lines = differing.flatMap(({ table, onlyHere, onlyThere, here, there }) => [
    `${table}: ${onlyHere} row${onlyHere === 1 ? '' : 's'} only in the present warehouse, ${onlyThere} only in the rebuilt one`,
    ...here.map((row) => `  present: ${JSON.stringify(row)}`),
    ...there.map((row) => `  rebuilt: ${JSON.stringify(row)}`),
  ]);
  return [`${made}, DIFFERENT from the present warehouse:`, ...lines].join('\n');
}
