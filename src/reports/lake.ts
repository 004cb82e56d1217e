import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UnprovenError } from '../errors.ts';
import { addCalendarMonths, formatInstant, formatMonth, type Instant } from '../time.ts';
import {
  type Connection,
  type CostPartition,
  copyPartition,
  costPartitions,
  holdFolder,
  lastLoadOf,
  partitionsChangedSince,
  rowsOfPartition,
  type SqlColumn,
  sumOfCosts,
  viewsSha256,
} from '../warehouse/index.ts';
import { type Report, selectOf } from './catalogue.ts';
import { isPart, namesIn, partOf, replaceFile, statOf, syncPath } from './durable.ts';
import { type ExportPlace, segment } from './export-names.ts';
import { type CostColumn, figuresOfFile, figuresOfQuery } from './figures.ts';
import { parquetCell } from './formats/parquet.ts';
import {
  type Manifest,
  type ManifestFile,
  manifestName,
  manifestText,
  readManifest,
  type StoredManifest,
  sha256OfFile,
  sha256OfText,
} from './manifest.ts';
import { type ExportFacts, ownManifest, type Published, patienceMs } from './publish.ts';

/** The manifest of a publication in progress. While it exists, a partition's file may belong to either manifest. */
export const nextManifestName = '.manifest.next.json';

/** The folder for readers of partitions; it contains nothing else. */
export const partitionsFolder = 'costs';
const fileName = 'costs.parquet';
/** Change it when the same rows are written differently, so that all partitions are written again. */
const partitionForm = 'instants are UTC';

/**
 * Writes a report over all costs as Parquet, one file per account and month below `costs/account=…/month=…/`, with Hive
 * names for the folders. Writes only months with new loads since the last run. The name of a partition's file never
 * changes and the file is replaced by rename, so a reader that lists the folder and opens the files always finds each
 * row once. If this process dies between two renames, the next run completes them; until then the new manifest is next
 * to the old one. Throws as `publishFiles` does.
 */
export async function publishLake(
  place: ExportPlace,
  report: Report,
  facts: Omit<ExportFacts, 'rows' | 'cost'>,
  options: {
    connection: Connection;
    columns: readonly SqlColumn[];
    column: CostColumn;
    asOf: Instant | undefined;
    signal: AbortSignal;
    onProgress: ((words: string) => void) | undefined;
  },
): Promise<Published> {
  const { connection, asOf, signal } = options;
  const { folder } = place;
  await mkdir(folder, { recursive: true });
  const lock = await holdFolder(place.reportFolder, { patienceMs, signal });
  const staged: Staged[] = [];
  try {
    const { current, isTrusted } = await recover(folder, await ownManifest(folder));
    const basis = {
      lastLoad: await lastLoadOf(connection),
      sha256: sha256OfText(`${partitionForm}${facts.sqlSha256}${await viewsSha256(connection)}`),
    };
    const kept = new Map<string, ManifestFile>();
    let toWrite: CostPartition[];
    if (isTrusted && asOf === undefined && (await isContinued(current, basis, connection))) {
      for (const file of current?.manifest.files ?? []) {
        if ((await statOf(join(folder, file.name)))?.size === file.bytes) kept.set(file.name, file);
      }
      const changed = await partitionsChangedSince(connection, current?.manifest.basis?.lastLoad ?? 0);
      const lost = (current?.manifest.files ?? []).filter(({ name }) => !kept.has(name)).map(partitionOf);
      const written = new Set(changed.map(nameOf));
      toWrite = [...changed, ...lost.filter((partition) => !written.has(nameOf(partition)))];
    } else {
      toWrite = await costPartitions(connection);
      // Partitions of other books become empty instead of disappearing while a reader has them open.
      const names = new Set(toWrite.map(nameOf));
      toWrite.push(...(current?.manifest.files ?? []).map(partitionOf).filter((one) => !names.has(nameOf(one))));
    }

    for (const [index, partition] of toWrite.entries()) {
      signal.throwIfAborted();
      options.onProgress?.(`file ${index + 1} of ${toWrite.length}`);
      const one = await stage(folder, report, partition, options);
      const name = one.entry.name;
      kept.set(name, one.entry);
      // Restated back to the old values, so the file is already correct.
      const isThere =
        (await statOf(join(folder, name)))?.size === one.entry.bytes &&
        (await sha256OfFile(join(folder, name))) === one.entry.sha256;
      if (isThere) await rm(one.part, { force: true });
      else staged.push(one);
    }
    const files = [...kept.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const sums = await sumOf(connection, files, options.column);
    return await commit(folder, { ...facts, ...sums, basis }, files, staged, current);
  } finally {
    // Once the next manifest exists, the next run can continue from these files.
    if ((await statOf(join(folder, nextManifestName))) === undefined) {
      for (const { part } of staged) await rm(part, { force: true });
    }
    await removeEmptyFolders(join(folder, partitionsFolder));
    lock.release();
  }
}

/** A partition under its temporary name. */
interface Staged {
  readonly part: string;
  readonly entry: ManifestFile;
}

function nameOf({ account, month }: CostPartition): string {
  return [partitionsFolder, segment('account', account), segment('month', formatMonth(month)), fileName].join('/');
}

function partitionOf({ partition }: ManifestFile): CostPartition {
  return { account: partition?.account ?? '', month: Date.parse(`${partition?.month}-01T00:00:00Z`) };
}

/** The rows of one partition, without the two columns that the folder names contain. */
export function partitionQuery(report: Report, columns: readonly SqlColumn[]): string {
  const grain = report.grain.filter((column) => column !== 'account' && column !== 'month');
  const cells = columns
    .filter(({ name }) => name !== 'account' && name !== 'month')
    .map((column) => parquetCell(column));
  return rowsOfPartition(selectOf(report), cells, grain);
}

/** The parameters of `partitionQuery`. */
export function partitionParameters({ account, month }: CostPartition): Record<string, string> {
  return {
    account,
    month: formatMonth(month),
    start: formatInstant(month),
    end: formatInstant(addCalendarMonths(month, 1)),
  };
}

async function stage(
  folder: string,
  report: Report,
  partition: CostPartition,
  { connection, columns, column }: { connection: Connection; columns: readonly SqlColumn[]; column: CostColumn },
): Promise<Staged> {
  const name = nameOf(partition);
  const part = partOf(join(folder, name));
  const query = partitionQuery(report, columns);
  const parameters = partitionParameters(partition);
  await mkdir(dirname(part), { recursive: true });
  try {
    await connection.run(copyPartition(query), { ...parameters, path: part });
    await syncPath(part);
    const sha256 = await sha256OfFile(part);
    const { size } = (await statOf(part)) ?? { size: 0 };
    const written = await figuresOfFile(connection, part, 'parquet', column);
    const asked = await figuresOfQuery(connection, query, parameters, column);
    if (written.rows !== asked.rows || written.cost !== asked.cost) {
      throw new UnprovenError(
        `${report.name} was not published: account ${partition.account}, ${formatMonth(partition.month)}: the file has ` +
          `${written.rows} rows and ${written.cost} cost, the books have ${asked.rows} rows and ${asked.cost} cost`,
      );
    }
    const { account } = partition;
    return {
      part,
      entry: {
        name,
        format: 'parquet',
        bytes: size,
        sha256,
        ...written,
        partition: { account, month: formatMonth(partition.month) },
      },
    };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Whether the existing partitions belong to these books; if so, only months with new loads are written. */
async function isContinued(
  current: StoredManifest | undefined,
  basis: { lastLoad: number; sha256: string },
  connection: Connection,
): Promise<boolean> {
  const before = current?.manifest.basis;
  if (current === undefined || before === undefined || before.sha256 !== basis.sha256) return false;
  return (
    before.lastLoad <= basis.lastLoad &&
    (await lastLoadOf(connection, Date.parse(current.manifest.asOf))) === before.lastLoad
  );
}

/** Rows and cost of all files, added up. */
async function sumOf(
  connection: Connection,
  files: readonly ManifestFile[],
  { decimals }: CostColumn,
): Promise<{ rows: number; cost: string | null }> {
  const rows = files.reduce((sum, file) => sum + (file.rows ?? 0), 0);
  const [row] = await connection.rows(sumOfCosts(decimals), { costs: JSON.stringify(files.map(({ cost }) => cost)) });
  const cost = row?.['cost'];
  return { rows, cost: typeof cost === 'string' ? cost : null };
}

async function commit(
  folder: string,
  facts: ExportFacts,
  files: readonly ManifestFile[],
  staged: readonly Staged[],
  current: StoredManifest | undefined,
): Promise<Published> {
  const same: Manifest = { manifest: 1, ...facts, files, previous: current?.manifest.previous ?? null };
  if (current !== undefined && sha256OfText(manifestText(same)) === current.sha256) {
    for (const { part, entry } of staged) await rename(part, join(folder, entry.name)); // it was damaged
    return { folder, manifest: same, isUnchanged: true };
  }
  const manifest: Manifest = {
    ...same,
    previous: current === undefined ? null : { sha256: current.sha256, files: {} },
  };
  for (const { part } of staged) await syncPath(dirname(part));
  await replaceFile(join(folder, nextManifestName), manifestText(manifest));
  await swap(folder, staged);
  return { folder, manifest, isUnchanged: false };
}

/** The point of no return: renames the staged files, then the next manifest. */
async function swap(folder: string, staged: readonly Staged[]): Promise<void> {
  for (const { part, entry } of staged) await rename(part, join(folder, entry.name));
  for (const { part } of staged) await syncPath(dirname(part));
  await rename(join(folder, nextManifestName), join(folder, manifestName));
  await syncPath(folder);
}

/**
 * Completes the publication of a killed run, if every file of the next manifest exists under its own or a temporary
 * name. Otherwise somebody removed files, so the next manifest cannot be trusted. Removes all leftovers.
 */
async function recover(
  folder: string,
  current: StoredManifest | undefined,
): Promise<{ current: StoredManifest | undefined; isTrusted: boolean }> {
  const before = new Map(current?.manifest.files.map((file) => [file.name, file]));
  const next = await readManifest(folder, nextManifestName);
  let result = { current, isTrusted: true };
  if (next !== undefined) {
    const staged: Staged[] = [];
    let isWhole = true;
    for (const entry of next.manifest.files) {
      if (before.get(entry.name)?.sha256 === entry.sha256) continue;
      const path = join(folder, entry.name);
      const parts = (await namesIn(dirname(path))).filter(isPart).map((name) => join(dirname(path), name));
      const found = await findAsync([path, ...parts], async (one) => {
        return (await statOf(one))?.size === entry.bytes && (await sha256OfFile(one)) === entry.sha256;
      });
      if (found === undefined) isWhole = false;
      else if (found !== path) staged.push({ part: found, entry });
    }
    if (isWhole) {
      await swap(folder, staged);
      result = { current: next, isTrusted: true };
    } else {
      await rm(join(folder, nextManifestName), { force: true });
      result = { current, isTrusted: false };
    }
  }
  for (const name of await namesIn(folder)) if (isPart(name)) await rm(join(folder, name), { force: true });
  for (const account of await namesIn(join(folder, partitionsFolder))) {
    for (const month of await namesIn(join(folder, partitionsFolder, account))) {
      const at = join(folder, partitionsFolder, account, month);
      for (const name of await namesIn(at)) {
        if (isPart(name) && name.includes(basename(fileName))) await rm(join(at, name), { force: true });
      }
    }
  }
  return result;
}

async function findAsync<T>(candidates: readonly T[], meets: (one: T) => Promise<boolean>): Promise<T | undefined> {
  for (const one of candidates) if (await meets(one)) return one;
  return undefined;
}

/** Removes the empty folders that a failed run created for partitions. */
async function removeEmptyFolders(root: string): Promise<void> {
  for (const account of await namesIn(root)) {
    for (const month of await namesIn(join(root, account))) await rmdir(join(root, account, month)).catch(() => {});
    await rmdir(join(root, account)).catch(() => {});
  }
}
