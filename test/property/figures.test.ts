import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figuresOfFile, writeAnswer } from '../../src/reports/formats/export.ts';
import { exportFormats } from '../../src/tables/file-formats.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { openScratch } from '../../src/warehouse/store/database.ts';
import fc from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';

let dir = '';
let connection: Connection;
let close: () => void;
beforeAll(async () => {
  // DuckDB takes such folders for columns, unless it is told otherwise.
  dir = join(await newProject(), 'cost=7', 'json=7');
  await mkdir(dir, { recursive: true });
  const scratch = await openScratch(dir);
  connection = await scratch.connect();
  close = () => scratch.close();
});
afterAll(() => close());

/** Names that somebody could give, and what CSV, JSON and spreadsheets make something of. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .array(
      fc.constantFrom(
        '"',
        "'",
        ',',
        ';',
        '\t',
        '\r',
        '\n',
        '\\',
        '#',
        '\u0000',
        '=',
        'NULL',
        '',
        ' ',
        '|',
        'é',
        '€',
        '😀',
      ),
    )
    .map((parts) => parts.join('')),
);
const cost = fc.option(fc.bigInt(-(10n ** 24n), 10n ** 24n), { nil: null });
const rows = fc.array(fc.tuple(fc.option(text, { nil: null }), cost), { maxLength: 30 });

function withPoint(whole: bigint): string {
  const digits = String(whole < 0n ? -whole : whole).padStart(13, '0');
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

test.each(exportFormats)(
  '%s is counted and summed as it was written, for any names in it and above it',
  async (format) => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), fc.boolean(), async (given, raw, isAlone) => {
        number += 1;
        const path = join(dir, `${number}.${format}`);
        const json = JSON.stringify(
          given.map(([name, whole]) => ({ name, cost: whole === null ? null : withPoint(whole) })),
        );
        const columns = isAlone
          ? 'cast(row.cost as decimal(38, 12)) as cost'
          : `row.name as "a ""name"", or", cast(row.cost as decimal(38, 12)) as cost`;
        const query = `select ${columns} from (
        select unnest(from_json($json, '[{"name": "VARCHAR", "cost": "VARCHAR"}]')) as row)`;
        const question = { connection, query, parameters: { json } };
        expect(
          await writeAnswer(question, { format, path, raw, parquetDecimals: 'exact', facts: {}, costColumn: 'cost' }),
        ).toBe(given.length);
        const known = given.flatMap(([, whole]) => (whole === null ? [] : [whole]));
        expect(await figuresOfFile(connection, path, format, { name: 'cost', decimals: 12 })).toEqual({
          rows: given.length,
          cost: known.length === 0 ? null : withPoint(known.reduce((sum, whole) => sum + whole, 0n)),
        });
      }),
      { numRuns: 60 },
    );
  },
);
