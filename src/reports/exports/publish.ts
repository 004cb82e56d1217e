import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UnprovenError } from '../../base/errors.ts';
import { type Connection, holdFolder } from '../../warehouse/store/index.ts';
import { figuresOfFile } from '../formats/export.ts';
import type { CostColumn } from '../formats/figures.ts';
import { isPart, namesIn, partOf, removeFile, statOf, syncPath } from './durable.ts';
import { dataName, type ExportPlace, isDataName, isExportName, latestName, makePlace } from './export-names.ts';
import { readExportsJournal, recordManifest } from './exports-journal.ts';
import { type ExportFolder, folderPlace, recover, swap } from './folder-place.ts';
import {
  type Manifest,
  type ManifestFile,
  manifestText,
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

/** The folders of a published export. */
export interface PublishedPlace {
  readonly reportFolder: string;
  readonly folder: string;
}

/** A committed export. */
export interface Published {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Whether nothing had changed, to the byte. */
  readonly isUnchanged: boolean;
}

/** The files of an export with their paths. */
export function filesOf({ folder, manifest }: Published): (ManifestFile & { path: string; latest: string })[] {
  return manifest.files.map((file) => {
    const path = join(folder, file.name);
    return { ...file, path, latest: path };
  });
}

/** How long to wait for another process that writes to the same folder. */
export const patienceMs = 60_000;

/**
 * Writes an export's files and commits them as a set, as the lake: while the next manifest is there, each file is whole, old or
 * new, and if this process dies, the next run completes the set or drops it. A folder has each row once in each format, under a
 * name that stays (`latest.csv`). Before the commit, each file is read back, counted and summed. If nothing changed, nothing is
 * written. Throws LockedError if another process keeps writing to the folder, UnprovenError if a file
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
  await makePlace(place);
  const lock = await holdFolder(place.reportFolder, { patienceMs, signal });
  const own = folderPlace(folder);
  const written: Written[] = [];
  try {
    const journal = place.project === undefined ? undefined : await readExportsJournal(place.project);
    const { current } = await recover(own, [], async (sha256) => (await journal?.has(folder, sha256)) !== false);
    await removeLeftovers(folder, facts.report, current?.manifest);
    const had = new Set(current?.manifest.files.map(({ format }) => format));
    for (const file of files) {
      if (!file.isAsked && !had.has(file.format)) continue;
      signal.throwIfAborted();
      onProgress?.(`${facts.report} as ${file.format}`);
      const before = current?.manifest.files.find(({ format }) => format === file.format);
      const { totals, language } = (file.isAsked ? file : before) ?? {};
      const form = { ...(totals ? { totals } : {}), ...(language === undefined ? {} : { language }) };
      written.push(await writePart(folder, facts, file, form, reading, column));
    }
    return await commit(place, own, facts, written, current);
  } finally {
    // Once the next manifest exists, the next run can continue from these files.
    if ((await own.readNext().catch(() => undefined)) === undefined) {
      for (const { draft } of written) await own.dropDraft(draft);
    }
    lock.release();
  }
}

/** A file under its temporary name. */
interface Written {
  readonly draft: string;
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
      name: dataName(facts, stem, extension),
      format,
      bytes: size,
      sha256,
      rows: figures?.rows ?? null,
      cost: figures?.cost ?? null,
      ...(file.inexact ? { inexact: true } : {}),
      ...(file.raw ? { raw: true } : {}),
      ...form,
    };
    return { draft: part, entry };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function commit(
  { folder, project }: ExportPlace,
  own: ExportFolder,
  facts: ExportFacts,
  written: readonly Written[],
  current: StoredManifest | undefined,
): Promise<Published> {
  const entries = written.map(({ entry }) => entry);
  function manifestAfter(previous: Manifest['previous']): Manifest {
    return { manifest: 1, ...facts, files: entries, previous };
  }
  const record = async (sha256: string) => {
    if (project !== undefined) await recordManifest(project, { folder, sha256, asOf: facts.asOf });
  };
  // An intact file is left alone; a damaged one is replaced.
  const staged: Written[] = [];
  for (const one of written) if (!(await own.has(one.entry, { isExact: true }))) staged.push(one);
  const same = manifestAfter(current?.manifest.previous ?? null);
  if (current !== undefined && sha256OfText(manifestText(same)) === current.sha256) {
    await record(current.sha256);
    for (const { draft, entry } of staged) await own.put(entry.name, draft);
    if (staged.length > 0) await syncPath(folder);
    return { folder, manifest: same, isUnchanged: true };
  }
  const manifest = manifestAfter(
    current === undefined ? null : { sha256: current.sha256, files: hashesOf(current.manifest) },
  );
  // In this order: whatever is recorded is here, as the present manifest or as the next one.
  await own.announce(manifestText(manifest));
  await record(sha256OfText(manifestText(manifest)));
  await swap(own, staged);
  if (current !== undefined) await removeSuperseded(folder, current.manifest, manifest);
  return { folder, manifest, isUnchanged: false };
}

function hashesOf({ files }: Manifest): Record<string, string> {
  return Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256]));
}

/** Removes leftovers of a killed run: files with our names that no manifest lists. */
async function removeLeftovers(folder: string, report: string, manifest: Manifest | undefined): Promise<void> {
  const named = new Set(manifest?.files.map(({ name }) => name));
  for (const name of await namesIn(folder)) {
    if (isPart(name) || (isDataName(report, name) && !named.has(name))) await removeFile(join(folder, name));
  }
}

/**
 * Removes files that only the manifest before names: of a format that is gone, or as an earlier version named them. Anybody
 * may have written that manifest, so a name that this report would not give is left alone.
 */
async function removeSuperseded(folder: string, before: Manifest, after: Manifest): Promise<void> {
  const kept = new Set(after.files.map(({ name }) => name));
  for (const { name } of before.files) {
    for (const one of [name, latestName(after, name)]) {
      if (one !== undefined && !kept.has(one) && isExportName(after, one)) await rm(join(folder, one), { force: true });
    }
  }
}
