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

/** The manifest that is about to come true: while it lies there a partition's file is that of either manifest. */
export const nextManifestName = '.manifest.next.json';

/** The root for whoever reads partitions: nothing else is below it. */
export const partitionsFolder = 'costs';
const fileName = 'costs.parquet';
/** Changes with how a partition is written from the same rows, so that all of them are written anew. */
const partitionForm = 'instants are UTC';

/**
 * Writes a report over all costs as Parquet, a file for each account and month below `costs/account=…/month=…/`, the
 * two columns in the folders' names as Hive has them. Only months that a load has touched since the last time are
 * written. A partition's file has one name for ever and is swapped by rename, so that whoever lists the folder and
 * opens what it lists always finds each row once. Where this process dies among the swaps, the next run ends them: the
 * new manifest lies beside the old one until then. Throws as `publishFiles` does.
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
      // What was there of other books is emptied rather than taken away from under a reader.
      const names = new Set(toWrite.map(nameOf));
      toWrite.push(...(current?.manifest.files ?? []).map(partitionOf).filter((one) => !names.has(nameOf(one))));
    }

    for (const [index, partition] of toWrite.entries()) {
      signal.throwIfAborted();
      options.onProgress?.(`file ${index + 1} of ${toWrite.length}`);
      const one = await stage(folder, report, partition, options);
      const name = one.entry.name;
      kept.set(name, one.entry);
      // Restated to and fro: it is what lies there.
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
    // Once the next manifest lies there, the next run takes them from here.
    if ((await statOf(join(folder, nextManifestName))) === undefined) {
      for (const { part } of staged) await rm(part, { force: true });
    }
    await removeEmptyFolders(join(folder, partitionsFolder));
    lock.release();
  }
}

/** A partition that is written under its temporary name. */
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

/** The rows of one partition, without the two columns that are the names of its folders. */
export function partitionQuery(report: Report, columns: readonly SqlColumn[]): string {
  const grain = report.grain.filter((column) => column !== 'account' && column !== 'month');
  const cells = columns
    .filter(({ name }) => name !== 'account' && name !== 'month')
    .map((column) => parquetCell(column));
  return rowsOfPartition(selectOf(report), cells, grain);
}

/** What `partitionQuery` is bound to. */
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
        `${report.name} was not published: account ${partition.account}, ${formatMonth(partition.month)}: the file holds ` +
          `${written.rows} rows of ${written.cost} cost, the books answered ${asked.rows} rows of ${asked.cost} cost`,
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

/** Whether the partitions that lie there are of these books: then only what was loaded since is written. */
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
    for (const { part, entry } of staged) await rename(part, join(folder, entry.name)); // what had been damaged
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

/** From here on there is no way back: what is staged gets its name, then the next manifest becomes the manifest. */
async function swap(folder: string, staged: readonly Staged[]): Promise<void> {
  for (const { part, entry } of staged) await rename(part, join(folder, entry.name));
  for (const { part } of staged) await syncPath(dirname(part));
  await rename(join(folder, nextManifestName), join(folder, manifestName));
  await syncPath(folder);
}

/**
 * Ends what a run that died had begun: where every file of the next manifest is there, under its own name or a temporary
 * one, it comes true. Otherwise somebody took files away, and what lies there is not to be relied on. Removes what is
 * left of it.
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

/** Folders in which a run that failed had meant to put a partition. */
async function removeEmptyFolders(root: string): Promise<void> {
  for (const account of await namesIn(root)) {
    for (const month of await namesIn(join(root, account))) await rmdir(join(root, account, month)).catch(() => {});
    await rmdir(join(root, account)).catch(() => {});
  }
}
