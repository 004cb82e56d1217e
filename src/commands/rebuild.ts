import { resolve } from 'node:path';
import { markMended } from '../alerts/index.ts';
import { exitCodes } from '../base/errors.ts';
import { rebuildInto } from '../ingest/index.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { counted } from '../text/counted.ts';
import type { TableComparison } from '../warehouse/integrity/index.ts';
import type { Command } from './command.ts';

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
    const file = resolve(context.folder, into ?? '');
    const { loads, isPublished, tables } = await rebuildInto(file, waitMs, context);
    if (isPublished) await markMended(context);
    const isIdentical = tables?.every(({ onlyHere, onlyThere }) => onlyHere === 0 && onlyThere === 0);
    const answer = context.json
      ? JSON.stringify({ file, loads, published: isPublished, identical: isIdentical ?? null, tables: tables ?? [] })
      : describe(file, loads, tables, isPublished);
    await context.write(`${context.redact(answer)}\n`);
    return isIdentical === false ? exitCodes.unproven : exitCodes.done;
  },
};

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
