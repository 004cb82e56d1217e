import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import type { EngineSettings } from '../config/index.ts';
import { readManifest } from '../reports/exports/index.ts';
import { literalText, nameText, typeText } from './spark-text.ts';
import { type Field, typeOfName } from './sql-type.ts';
import { type SparkStatement, sparkSettings } from './to-spark.ts';

/** Whether a lake is an address that only the cluster reaches. */
export function isRemote(lake: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(lake);
}

/** The folder of the lake on this machine; undefined if only the cluster reaches it. */
export function lakeFolder({ lake }: Pick<EngineSettings, 'lake'>, dir: string): string | undefined {
  return isRemote(lake) ? undefined : resolve(dir, lake);
}

/**
 * The script for the cluster: the settings, a view for each table of the lake that the statement reads, and the statement,
 * which writes a marked line of JSON for each row. A last line shows that no row is missing.
 */
export async function sparkScript(
  { sql, tables, columns }: SparkStatement,
  { settings, dir, mark }: { settings: EngineSettings; dir: string; mark: string },
): Promise<string> {
  const folder = lakeFolder(settings, dir);
  const views = await Promise.all(
    tables.map(async ({ name, columns: known }) => {
      if (folder === undefined) return viewText(name, known.map(columnText), settings.lake);
      const written = await writtenColumns(folder, name);
      return (await hasFiles(join(folder, name))) ? viewText(name, written, folder) : emptyView(name, written);
    }),
  );
  const cells = columns.map(({ type }, index) => {
    const isNested = type.kind === 'list' || type.kind === 'struct';
    return `'c${index}', ${isNested ? `to_json(c${index})` : `cast(c${index} as string)`}`;
  });
  const answer =
    `select concat(${literalText(`${mark} `)}, to_json(named_struct(${cells.join(', ')}), map('ignoreNullFields', 'false')))\n` +
    `from (\n${sql}\n) as answer(${columns.map((_, index) => `c${index}`).join(', ')})`;
  const statements = [
    ...Object.entries(sparkSettings).map(([name, value]) => `set ${name}=${value}`),
    ...views,
    answer,
    `select ${literalText(`${mark} end`)}`,
  ];
  return statements.map((statement) => `${statement};\n`).join('');
}

async function hasFiles(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => !/^[._]/.test(name));
}

/** A column and its type, for a lake whose manifest only the cluster reaches. */
function columnText({ name, type }: Field): ColumnText {
  return { name, type: name === 'series_id' ? 'decimal(20, 0)' : (typeText(type) ?? 'string') };
}

interface ColumnText {
  readonly name: string;
  readonly type: string;
}

/** The columns of a table as the lake's manifest has them. Those in the names of folders are text. */
async function writtenColumns(folder: string, name: string): Promise<readonly ColumnText[]> {
  const table = (await readManifest(folder))?.manifest.tables?.[name];
  if (table === undefined) {
    throw new UsageError(`engine.lake: ${folder} has no table ${name}`, {
      next: act('write the lake again with "costbook report lake".'),
    });
  }
  const columns = table.columns.map((column) => ({ ...column, type: typeText(typeOfName(column.type)) ?? 'string' }));
  const inFolders = table.partition.filter((one) => !columns.some((column) => column.name === one));
  return [...columns, ...inFolders.map((one) => ({ name: one, type: 'string' }))];
}

/** A table's columns are given: Spark would take an account of digits for a number. */
function viewText(name: string, columns: readonly ColumnText[], lake: string): string {
  const path = `${lake.replace(/\/+$/, '')}/${name}`;
  const list = columns.map((column) => `${nameText(column.name)} ${column.type}`).join(', ');
  return `create or replace temporary view ${nameText(name)} (${list}) using parquet options (path ${literalText(path)})`;
}

/** A table without rows has no folder. */
function emptyView(name: string, columns: readonly ColumnText[]): string {
  const cells = columns.map((column) => `cast(null as ${column.type}) as ${nameText(column.name)}`);
  return `create or replace temporary view ${nameText(name)} as select ${cells.join(', ')} where false`;
}
