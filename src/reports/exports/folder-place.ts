import type { Stats } from 'node:fs';
import { lstat, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPart, makeFolders, namesIn, partOf, removeFile, replaceFile, statOf, syncPath } from './durable.ts';
import {
  earlierManifestName,
  type ManifestFile,
  manifestName,
  manifestNames,
  nextManifestName,
  ownManifest,
  type StoredManifest,
  sha256OfFile,
} from './manifest.ts';

/** A file of an export: its path below the folder with `/`, its size and hash. */
export type PlacedFile = Pick<ManifestFile, 'name' | 'bytes' | 'sha256'>;

/**
 * Where the files of an export are put. A file is first a draft, which no reader takes for data. `announce` stores the next
 * manifest, `put` makes drafts visible one by one, each whole, and `conclude` makes the next manifest the current one. Once
 * the next manifest is stored, the drafts that it names survive this process.
 */
export interface ExportFolder {
  readManifest(): Promise<StoredManifest | undefined>;
  readNext(): Promise<StoredManifest | undefined>;
  /** The local path to write a draft to. */
  draftOf(name: string): Promise<string>;
  /** Makes a draft durable. Returns its size and hash. */
  keepDraft(name: string, draft: string): Promise<PlacedFile>;
  dropDraft(draft: string): Promise<void>;
  /** Whether a file is there with its size, and with its hash if `isExact`. */
  has(file: PlacedFile, options: { readonly isExact: boolean }): Promise<boolean>;
  /** The draft that a killed run left of a file. */
  findDraft(file: PlacedFile): Promise<string | undefined>;
  announce(text: string): Promise<void>;
  put(name: string, draft: string): Promise<void>;
  conclude(names: readonly string[]): Promise<void>;
  withdraw(): Promise<void>;
  /** Removes the drafts of killed runs below these folders, and folders without files. */
  sweep(folders: readonly string[]): Promise<void>;
}

/** An export in a folder of this machine. Drafts are hidden files beside the files that they become by a rename. */
export function folderPlace(folder: string): ExportFolder {
  const current = join(folder, manifestName);
  const next = join(folder, nextManifestName);
  return {
    readManifest: () => ownManifest(folder),
    readNext: () => ownManifest(folder, [nextManifestName]),
    async draftOf(name) {
      const draft = partOf(join(folder, name));
      await makeFolders(folder, name.split('/').slice(0, -1));
      return draft;
    },
    async keepDraft(name, draft) {
      await syncPath(draft);
      const { size = 0 } = (await statOf(draft)) ?? {};
      return { name, bytes: size, sha256: await sha256OfFile(draft) };
    },
    dropDraft: (draft) => rm(draft, { force: true }),
    has: ({ name, ...file }, { isExact }) => isFile(join(folder, name), file, isExact),
    async findDraft({ name, ...file }) {
      const below = dirname(join(folder, name));
      for (const one of (await namesIn(below)).filter(isPart)) {
        if (await isFile(join(below, one), file, true)) return join(below, one);
      }
      return undefined;
    },
    announce: (text) => replaceFile(next, text),
    async put(name, draft) {
      await makeFolders(folder, name.split('/').slice(0, -1));
      await rename(draft, join(folder, name));
    },
    async conclude(names) {
      for (const below of new Set(names.map((name) => dirname(join(folder, name))))) await syncPath(below);
      await rename(next, current);
      await syncPath(folder);
      for (const name of manifestNames) if (name !== manifestName) await rm(join(folder, name), { force: true });
    },
    withdraw: () => rm(next, { force: true }),
    async sweep(folders) {
      const names = await namesIn(folder);
      for (const name of names) if (isPart(name)) await removeFile(join(folder, name));
      if (names.includes(earlierManifestName) && !names.includes(manifestName)) {
        await rename(join(folder, earlierManifestName), current);
      }
      for (const below of folders) await sweepBelow(join(folder, below));
    },
  };
}

async function isFile(path: string, { bytes, sha256 }: Omit<PlacedFile, 'name'>, isExact: boolean): Promise<boolean> {
  // A link would make another file the export's.
  const there = await entryAt(path);
  return there?.isFile() === true && there.size === bytes && (!isExact || (await sha256OfFile(path)) === sha256);
}

function entryAt(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/** Removes drafts, then folders that are empty. A link is not followed: nothing elsewhere is removed. */
async function sweepBelow(folder: string): Promise<void> {
  if ((await entryAt(folder))?.isDirectory() !== true) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  for (const entry of entries) {
    if (entry.isDirectory()) await sweepBelow(join(folder, entry.name));
    else if (isPart(entry.name)) await removeFile(join(folder, entry.name));
  }
  // It fails if there is a file.
  await rmdir(folder).catch(() => {});
}

/** The point of no return: makes the drafts visible, then the next manifest. */
export async function swap(
  lake: ExportFolder,
  staged: readonly { readonly draft: string; readonly entry: PlacedFile }[],
): Promise<void> {
  for (const { draft, entry } of staged) await lake.put(entry.name, draft);
  await lake.conclude(staged.map(({ entry }) => entry.name));
}

/**
 * Completes the publication of a killed run, if every file of the next manifest exists under its own name or as a draft.
 * Otherwise somebody removed files, so the next manifest cannot be trusted; nor can one that is not `isOurs`. Removes all
 * leftovers.
 */
export async function recover(
  lake: ExportFolder,
  folders: readonly string[],
  isOurs: (sha256: string) => Promise<boolean> = async () => true,
): Promise<{ current: StoredManifest | undefined; isTrusted: boolean }> {
  const current = await lake.readManifest();
  const next = await lake.readNext();
  let result = { current, isTrusted: current === undefined || (await isOurs(current.sha256)) };
  if (next !== undefined) {
    const before = new Map(current?.manifest.files.map((file) => [file.name, file]));
    const drafts: { draft: string; entry: ManifestFile }[] = [];
    let isWhole = await isOurs(next.sha256);
    for (const entry of next.manifest.files) {
      if (before.get(entry.name)?.sha256 === entry.sha256 || (await lake.has(entry, { isExact: true }))) continue;
      const draft = await lake.findDraft(entry);
      if (draft === undefined) isWhole = false;
      else drafts.push({ draft, entry });
    }
    if (isWhole) {
      await swap(lake, drafts);
      result = { current: next, isTrusted: true };
    } else {
      await lake.withdraw();
      result = { current, isTrusted: false };
    }
  }
  await lake.sweep(folders);
  return result;
}
