import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exitCodes, UsageError } from '../errors.ts';
import { prepareDecoding } from '../fetch/index.ts';
import { rebuildLoads } from '../ingest/index.ts';
import { openPresentWarehouse, openRebuildingWarehouse, type TableComparison } from '../warehouse/index.ts';
import type { Command, CommandContext } from './command.ts';
import { optionReader } from './options.ts';
import { openWhenFree, waitOption } from './wait.ts';

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
    const file = resolve(into ?? '');
    await refuseExisting(file);

    const present = await openWhenFree(() => openPresentWarehouse(context.dir, context.signal), waitMs, context);
    try {
      const through = { throughEvent: present?.lastEvent, throughLoad: present?.lastLoadNumber };
      const loads = await makeWarehouse(file, through, context);
      const tables = await present?.compareWith(file);
      const isIdentical = tables?.every(({ onlyHere, onlyThere }) => onlyHere === 0 && onlyThere === 0);
      const answer = context.json
        ? JSON.stringify({ file, loads, identical: isIdentical ?? null, tables: tables ?? [] })
        : describe(file, loads, tables);
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

/** Makes the file whole or not at all; returns how many loads are in it. */
async function makeWarehouse(
  file: string,
  { throughEvent, throughLoad }: { throughEvent: number | undefined; throughLoad: number | undefined },
  context: CommandContext,
): Promise<number> {
  const { dir, effects, signal, progress } = context;
  prepareDecoding();
  const warehouse = await openRebuildingWarehouse(dir, file, { throughEvent, signal });
  try {
    const loads = await rebuildLoads({
      landingRoot: join(dir, 'data', 'landing'),
      throughLoad,
      stages: warehouse.stages,
      log: effects.log,
      signal,
      onProgress: (done, of) => progress(`${done}/${of} loads`),
    });
    await refuseExisting(file); // somebody else may have made it meanwhile
    await warehouse.finish();
    return loads;
  } catch (error) {
    await warehouse.discard();
    throw error;
  } finally {
    progress('comparing');
  }
}

function describe(file: string, loads: number, tables: readonly TableComparison[] | undefined): string {
  const made = `${file}: ${loads} loads made anew`;
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
