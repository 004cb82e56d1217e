import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UnprovenError, UsageError } from '../errors.ts';
import { type Connection, holdFolder } from '../warehouse/index.ts';
import { isPart, isSameFile, namesIn, partOf, relink, replaceFile, statOf, syncPath } from './durable.ts';
import { dataName, type ExportPlace, isDataName, latestName } from './export-names.ts';
import { recordManifest } from './exports-journal.ts';
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

/** A file of an export to write. */
export interface FileToWrite {
  readonly format: string;
  /** The report's name, or `<report>-<kind>` for an additional file (`focus-metadata`). */
  readonly stem: string;
  readonly extension: string;
  /** Whether it was requested. Formats of the previous export are rewritten too, so that all files agree. */
  readonly isAsked: boolean;
  /** Whether it holds the answer's rows, so that they can be counted and summed. */
  readonly holdsRows: boolean;
  /** Whether its numbers are inexact on request, so its sum may differ from the books. */
  readonly inexact?: true;
  readonly raw?: true;
  /** Whether it ends in a total row, and its language; if it was not requested, as in the previous export. */
  readonly totals?: true;
  readonly language?: string | undefined;
  /** The temporary path to write it to, if SQL must be allowed to write there; by default one beside its name. */
  readonly part?: string;
  /** Writes it to a path. Throws if that fails. */
  write(path: string, options: FileForm): Promise<void>;
}

/** What a file is like besides its format. */
export type FileForm = Pick<ManifestFile, 'totals' | 'language'>;

/** A manifest without its files and the manifest before it. */
export type ExportFacts = Omit<Manifest, 'manifest' | 'files' | 'previous'>;

/** A committed export. */
export interface Published {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Whether nothing had changed, to the byte. */
  readonly isUnchanged: boolean;
}

/** The files of an export with their paths and stable names. */
export function filesOf({ folder, manifest }: Published): (ManifestFile & { path: string; latest: string | null })[] {
  return manifest.files.map((file) => {
    const stable = latestName(manifest, file.name);
    return { ...file, path: join(folder, file.name), latest: stable === undefined ? null : join(folder, stable) };
  });
}

/** How long to wait for another process that writes to the same folder. */
export const patienceMs = 60_000;

/**
 * Writes an export's files and commits them by renaming their manifest into place. Readers of the manifest always find
 * either all old or all new files, even if this process dies. Before the commit, each file is read back, counted and summed.
 * After it, files of the old manifest are removed and the stable names (`latest.csv`) point to the new files. If nothing
 * changed, nothing is written. Throws LockedError if another process keeps writing to the folder, UnprovenError if a file
 * differs from the books' answer, and UsageError if the folder has a manifest that is not ours.
 */
export async function publishFiles(
  place: ExportPlace,
  facts: ExportFacts,
  files: readonly FileToWrite[],
  {
    reading,
    column,
    signal,
    onProgress,
  }: {
    /** A connection to read the written files back with. */
    reading: () => Promise<Connection>;
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
        const { totals, language } = (file.isAsked ? file : before) ?? {};
        const form = { ...(totals ? { totals } : {}), ...(language === undefined ? {} : { language }) };
        written.push(await writePart(folder, facts, file, form, reading, column));
      }
      return await commit(place, facts, written, current);
    } finally {
      for (const { part } of written) await rm(part, { force: true });
    }
  } finally {
    lock.release();
  }
}

/** A file under its temporary name. */
interface Written {
  readonly part: string;
  readonly entry: ManifestFile;
}

async function writePart(
  folder: string,
  facts: ExportFacts,
  file: FileToWrite,
  form: FileForm,
  reading: () => Promise<Connection>,
  column: CostColumn | undefined,
): Promise<Written> {
  const { format, stem, extension } = file;
  const part = file.part ?? partOf(join(folder, `${stem}.${extension}`));
  try {
    await file.write(part, form);
    await syncPath(part);
    const sha256 = await sha256OfFile(part);
    const { size } = (await statOf(part)) ?? { size: 0 };
    const figures = file.holdsRows ? await figuresOfFile(await reading(), part, format, column) : null;
    if (figures !== null && (figures.rows !== facts.rows || (figures.cost !== facts.cost && !file.inexact))) {
      throw new UnprovenError(
        `${facts.report} as ${format} was not published: the file has ${figures.rows} rows and ${figures.cost ?? 'no'} cost, ` +
          `the books have ${facts.rows} rows and ${facts.cost ?? 'no'} cost; the previous export is unchanged`,
      );
    }
    const entry: ManifestFile = {
      name: dataName(stem, sha256, extension),
      format,
      bytes: size,
      sha256,
      rows: figures?.rows ?? null,
      cost: figures?.cost ?? null,
      ...(file.inexact ? { inexact: true } : {}),
      ...(file.raw ? { raw: true } : {}),
      ...form,
    };
    return { part, entry };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function commit(
  { folder, project }: ExportPlace,
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
      // An intact file is left alone; a damaged one is replaced.
      if ((await statOf(path))?.size === entry.bytes && (await sha256OfFile(path)) === entry.sha256) continue;
      await rename(part, path);
      made.push(entry.name);
    }
    if (made.length > 0) await syncPath(folder);
    const text = manifestText(manifest);
    if (project !== undefined) {
      await recordManifest(project, { folder, sha256: sha256OfText(text), asOf: facts.asOf });
    }
    if (!isUnchanged) await replaceFile(join(folder, manifestName), text);
  } catch (error) {
    // Frees space on a full disk, unless the manifest already names the files.
    const named = (await readManifest(folder, manifestName).catch(() => undefined))?.manifest.files ?? [];
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

/** The folder's manifest. Throws UsageError if a file of that name is not ours, so that it is not overwritten. */
export async function ownManifest(folder: string, name = manifestName): Promise<StoredManifest | undefined> {
  try {
    return await readManifest(folder, name);
  } catch (error) {
    if (!(error instanceof NoManifestError)) throw error;
    throw new UsageError(
      `${join(folder, name)} is not a manifest of an export (${error.message}): move it away, or name another folder with --out`,
      { cause: error },
    );
  }
}

/** Removes leftovers of a killed run: files with our names that no manifest lists. */
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
    // Belongs to a format that the export no longer has.
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
