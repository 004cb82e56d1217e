import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { readSqlFolder } from '../../src/warehouse/sql/sql-files.ts';
import { givenBooks } from '../support/given-books.ts';

const page = new URL('../../docs/data-dictionary.md', import.meta.url);

interface Column {
  readonly view: string;
  readonly name: string;
  readonly type: string;
  readonly comment: string | null;
}

interface View {
  readonly name: string;
  readonly comment: string | null;
}

let views: View[] = [];
let columns: Column[] = [];
beforeAll(async () => {
  const books = await givenBooks({});
  try {
    views = (await books.connection.rows(`
      select view_name as name, comment from duckdb_views()
      where database_name = 'wh' and schema_name = 'main' and not internal order by view_name
    `)) as unknown as View[];
    columns = (await books.connection.rows(`
      select table_name as view, column_name as name, data_type as type, comment from duckdb_columns()
      where database_name = 'wh' and schema_name = 'main' and not internal order by table_name, column_index
    `)) as unknown as Column[];
  } finally {
    books.close();
  }
});

/** The catalogue of figures: what every surface that names one of them shows. */
async function figuresSection(): Promise<string[]> {
  const figures = await readSqlFolder('figures');
  return [
    '## Figures',
    '',
    'A figure has one meaning and one value, wherever it is shown: in the terminal, in JSON, on a page, in a message, in a report.',
    'Pages mark it as `data-figure`, and its row as `data-of`. Its SQL is in sql/figures.',
    '',
    '| figure | meaning |',
    '|---|---|',
    ...figures.map(({ name, header }) => `| \`${name}\` | ${header['about']?.replaceAll('\n', ' ')} |`),
    '',
  ];
}

/** The page as the comments of the views and columns make it. */
async function dictionary(): Promise<string> {
  const grains = new Map((await readSqlFolder('views')).map(({ name, header }) => [name, header['grain']]));
  const sections = views.map(({ name, comment }) => {
    const rows = columns
      .filter(({ view }) => view === name)
      .map((column) => `| \`${column.name}\` | ${column.type} | ${column.comment} |`);
    const grain = (grains.get(name) ?? '').split(', ').map((column) => `\`${column}\``);
    return [
      `## ${name}`,
      '',
      `${comment}.`,
      '',
      `One row: ${grain.join(', ')}.`,
      '',
      '| column | type | meaning |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return [
    '# Data dictionary',
    '',
    '<!-- generated from the comments in sql/views by `npm run docs` -->',
    '',
    '```sh',
    'costbook sql "describe costs"',
    '```',
    '',
    'These are the views of `data/costbook.duckdb` and their columns. The same words are in the file itself, as comments on',
    'views and columns: `select * from duckdb_columns()`. Cost is in USD, time in UTC, and every end is exclusive. The',
    '[data model](data-model.md) groups the views by purpose, and the [cookbook](cookbook.md) shows queries.',
    '',
    ...sections,
    ...(await figuresSection()),
  ].join('\n');
}

describe('the data dictionary', () => {
  test('has a public view for each file of sql/views', async () => {
    // Those of the ledger are what the public ones are made of.
    const files = (await readSqlFolder('views')).filter(({ text }) => !text.includes('create or replace view ledger.'));
    expect(views.map(({ name }) => name)).toEqual(files.map(({ name }) => name).sort());
  });

  test('misses no comment: every public view and every one of its columns has one', () => {
    expect(views.filter(({ comment }) => !comment?.trim()).map(({ name }) => name)).toEqual([]);
    expect(columns.filter(({ comment }) => !comment?.trim()).map(({ view, name }) => `${view}.${name}`)).toEqual([]);
    expect(columns.length).toBeGreaterThan(views.length);
  });

  test('is current; `npm run docs` writes it', async () => {
    if (process.env['UPDATE_README']) {
      mkdirSync(new URL('.', page), { recursive: true });
      writeFileSync(page, await dictionary());
      return;
    }
    expect(readFileSync(page, 'utf8')).toBe(await dictionary());
  });
});
