import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UnprovenError, UsageError } from '../errors.ts';
import { type Connection, holdFolder } from '../warehouse/index.ts';
import { isPart, isSameFile, namesIn, partOf, relink, replaceFile, statOf, syncPath } from './durable.ts';
import { type CostColumn, figuresOfFile } from './figures.ts';
import {
  type Manifest,
  type ManifestFile,
  manifestName,
  manifestText,
  NoManifestError,
  readManifest,
  type StoredManifest,
  sha256OfFile,
  sha256OfText,
} from './manifest.ts';

/** A file of an export, to be written. */
export interface FileToWrite {
  readonly format: string;
  /** The report's name, or `<report>-<kind>` for what goes with it (`focus-metadata`). */
  readonly stem: string;
  readonly extension: string;
  /** Whether it was asked for. Others are written where they lie from before: all files say the same. */
  readonly isAsked: boolean;
  /** Whether it holds the answer's rows, so that they can be counted and added up again. */
  readonly holdsRows: boolean;
  /** Whether its numbers were made inexact on request: then its sum need not be that of the books. */
  readonly inexact?: true;
  readonly raw?: true;
  /** Whether it ends in a row of totals; where it was not asked for, it is as it was before. */
  readonly totals?: true;
  /** Writes it under a name; throws where that fails. */
  write(path: string, options: { readonly totals: boolean }): Promise<void>;
}

/** What a manifest says but for the files, and for the manifest before it. */
export type ExportFacts = Omit<Manifest, 'manifest' | 'files' | 'previous'>;

/** An export that is committed. */
export interface Published {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Whether everything was there already, to the byte. */
  readonly isUnchanged: boolean;
}

/** The files of an export with their paths, and the stable names that people have for them. */
export function filesOf({ folder, manifest }: Published): (ManifestFile & { path: string; latest: string | null })[] {
  return manifest.files.map((file) => {
    const stable = latestName(manifest, file.name);
    return { ...file, path: join(folder, file.name), latest: stable === undefined ? null : join(folder, stable) };
  });
}

/** How long another process that writes into the same folder is waited for. */
export const patienceMs = 60_000;

/**
 * Writes an export's files and commits them by renaming their manifest into its place: whoever reads the manifest finds
 * the files of before or the new ones, whole, whenever this process dies. Each file is read again, counted and added up
 * before. What the manifest before named and this one does not is removed afterwards, and the stable names
 * (`latest.csv`) are put on the new files last. Where all of it is there already nothing is written. Throws
 * LockedError where another process keeps writing into the folder, UnprovenError where a file does not hold what the
 * books answered, UsageError where the folder has a manifest that is not ours.
 */
export async function publishFiles(
  place: { readonly reportFolder: string; readonly folder: string },
  facts: ExportFacts,
  files: readonly FileToWrite[],
  {
    connection,
    column,
    signal,
    onProgress,
  }: {
    connection: Connection;
    column: CostColumn | undefined;
    signal: AbortSignal;
    onProgress: ((words: string) => void) | undefined;
  },
): Promise<Published> {
  const { folder } = place;
  await mkdir(folder, { recursive: true });
  const lock = await holdFolder(place.reportFolder, { patienceMs, signal });
  try {
    const current = await ownManifest(folder);
    await removeLeftovers(folder, facts.report, current?.manifest);
    if (current !== undefined) await linkLatest(folder, current.manifest); // a run may have died just before
    const had = new Set(current?.manifest.files.map(({ format }) => format));
    const written: Written[] = [];
    try {
      for (const file of files) {
        if (!file.isAsked && !had.has(file.format)) continue;
        signal.throwIfAborted();
        onProgress?.(`${facts.report} as ${file.format}`);
        const before = current?.manifest.files.find(({ format }) => format === file.format);
        const hasTotals = (file.isAsked ? file : before)?.totals === true;
        written.push(await writePart(folder, facts, file, hasTotals, connection, column));
      }
      return await commit(folder, facts, written, current);
    } finally {
      for (const { part } of written) await rm(part, { force: true });
    }
  } finally {
    lock.release();
  }
}

/** A file that lies under its temporary name. */
interface Written {
  readonly part: string;
  readonly entry: ManifestFile;
}

async function writePart(
  folder: string,
  facts: ExportFacts,
  file: FileToWrite,
  hasTotals: boolean,
  connection: Connection,
  column: CostColumn | undefined,
): Promise<Written> {
  const { format, stem, extension } = file;
  const part = partOf(join(folder, `${stem}.${extension}`));
  try {
    await file.write(part, { totals: hasTotals });
    await syncPath(part);
    const sha256 = await sha256OfFile(part);
    const { size } = (await statOf(part)) ?? { size: 0 };
    const figures = file.holdsRows ? await figuresOfFile(connection, part, format, column) : null;
    if (figures !== null && (figures.rows !== facts.rows || (figures.cost !== facts.cost && !file.inexact))) {
      throw new UnprovenError(
        `${facts.report} as ${format} was not published: the file holds ${figures.rows} rows of ${figures.cost ?? 'no'} cost, ` +
          `the books answered ${facts.rows} rows of ${facts.cost ?? 'no'} cost; what was there before stands`,
      );
    }
    const entry: ManifestFile = {
      name: `${stem}-${sha256.slice(0, 8)}.${extension}`,
      format,
      bytes: size,
      sha256,
      rows: figures?.rows ?? null,
      cost: figures?.cost ?? null,
      ...(file.inexact ? { inexact: true } : {}),
      ...(file.raw ? { raw: true } : {}),
      ...(hasTotals ? { totals: true } : {}),
    };
    return { part, entry };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function commit(
  folder: string,
  facts: ExportFacts,
  written: readonly Written[],
  current: StoredManifest | undefined,
): Promise<Published> {
  const entries = written.map(({ entry }) => entry);
  function manifestAfter(previous: Manifest['previous']): Manifest {
    return { manifest: 1, ...facts, files: entries, previous };
  }
  const same = manifestAfter(current?.manifest.previous ?? null);
  const isUnchanged = current !== undefined && sha256OfText(manifestText(same)) === current.sha256;
  const manifest = isUnchanged
    ? same
    : manifestAfter(current === undefined ? null : { sha256: current.sha256, files: hashesOf(current.manifest) });
  const made: string[] = [];
  try {
    for (const { part, entry } of written) {
      const path = join(folder, entry.name);
      // One that is there and whole is left alone; one that was damaged is made good.
      if ((await statOf(path))?.size === entry.bytes && (await sha256OfFile(path)) === entry.sha256) continue;
      await rename(part, path);
      made.push(entry.name);
    }
    if (made.length > 0) await syncPath(folder);
    if (!isUnchanged) await replaceFile(join(folder, manifestName), manifestText(manifest));
  } catch (error) {
    // A disk that is full gets its room back, unless the manifest has come to name them.
    const named = (await readManifest(folder).catch(() => undefined))?.manifest.files ?? [];
    for (const name of made) {
      if (!named.some((file) => file.name === name)) await rm(join(folder, name), { force: true });
    }
    throw error;
  }
  if (!isUnchanged && current !== undefined) await removeSuperseded(folder, current.manifest, manifest);
  await linkLatest(folder, manifest);
  return { folder, manifest, isUnchanged };
}

function hashesOf({ files }: Manifest): Record<string, string> {
  return Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256]));
}

/** The folder's manifest. Throws UsageError where what has its name is not ours: nobody's file is overwritten. */
export async function ownManifest(folder: string): Promise<StoredManifest | undefined> {
  try {
    return await readManifest(folder);
  } catch (error) {
    if (!(error instanceof NoManifestError)) throw error;
    throw new UsageError(
      `${join(folder, manifestName)} is not a manifest of an export (${error.message}): move it away, or name another folder with --out`,
      { cause: error },
    );
  }
}

/** The kind of the CSV for people, in the name of its file. */
export const excelKind = 'excel';

type NamedExport = Pick<Manifest, 'report' | 'parameters'>;

const hashedName = /^(.+)-[0-9a-f]{8}\.(csv|parquet|arrow|json)$/;

/**
 * The stable name of a data file, for people: `latest.csv`, `latest-metadata.json`; of the CSV that people open, a name
 * that says what it is also in a mail: `chargeback-2026-10.csv`.
 */
export function latestName({ report, parameters }: NamedExport, name: string): string | undefined {
  const [, stem = '', extension = ''] = hashedName.exec(name) ?? [];
  if (stem === `${report}-${excelKind}`) {
    const { month } = parameters;
    return typeof month === 'string' ? `${report}-${month}.${extension}` : `${report}.${extension}`;
  }
  if (stem === report) return `latest.${extension}`;
  return stem.startsWith(`${report}-`) ? `latest-${stem.slice(report.length + 1)}.${extension}` : undefined;
}

/** Whether a name in a report's folder is one that only an export of it gives. */
export function isDataName(report: string, name: string): boolean {
  const [, stem = ''] = hashedName.exec(name) ?? [];
  return stem === report || (stem.startsWith(`${report}-`) && /^[a-z]+$/.test(stem.slice(report.length + 1)));
}

/** Removes what a run that was killed left: files that only we name so, and that no manifest speaks for. */
async function removeLeftovers(folder: string, report: string, manifest: Manifest | undefined): Promise<void> {
  const named = new Set(manifest?.files.map(({ name }) => name));
  for (const name of await namesIn(folder)) {
    if (isPart(name) || (isDataName(report, name) && !named.has(name))) await rm(join(folder, name), { force: true });
  }
}

async function removeSuperseded(folder: string, before: Manifest, after: Manifest): Promise<void> {
  const kept = new Set(after.files.map(({ name }) => name));
  const latest = new Set(after.files.map(({ name }) => latestName(after, name)));
  for (const { name } of before.files) {
    if (kept.has(name)) continue;
    const stable = latestName(before, name);
    // Of a format that there is none of any more.
    if (stable !== undefined && !latest.has(stable) && (await isSameFile(join(folder, name), join(folder, stable)))) {
      await rm(join(folder, stable), { force: true });
    }
    await rm(join(folder, name), { force: true });
  }
}

async function linkLatest(folder: string, manifest: Manifest): Promise<void> {
  for (const { name } of manifest.files) {
    const stable = latestName(manifest, name);
    if (stable === undefined || (await statOf(join(folder, name))) === undefined) continue;
    await relink(join(folder, name), join(folder, stable));
  }
  await syncPath(folder);
}
