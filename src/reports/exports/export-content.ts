import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { latestName } from './export-names.ts';
import { readExportsJournal } from './exports-journal.ts';
import {
  hashedManifestName,
  type Manifest,
  manifestNames,
  NoManifestError,
  parseManifest,
  readManifest,
  sha256OfText,
} from './manifest.ts';

/** A file of an export as a copy of it needs it. */
export interface ContentFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a copy of an export consists of: its files, and the exact text of its manifest. */
export interface ContentOfExport {
  readonly manifestName: string;
  readonly manifest: string;
  readonly files: readonly ContentFile[];
}

/** The content of a published folder; undefined if it has no manifest. Throws NoManifestError if it is none of ours. */
export async function contentOfExport(folder: string): Promise<ContentOfExport | undefined> {
  for (const name of manifestNames) {
    const manifest = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (manifest !== undefined) return { manifestName: name, manifest, files: filesOfManifest(name, manifest) };
  }
  return undefined;
}

/** Whether a name is that of a manifest. */
export function isManifestName(name: string): boolean {
  return manifestNames.includes(name);
}

/** What readers of all months of a report read: it belongs beside a manifest. */
export const dataOfExport = /^latest(-[a-z]+)?\.(csv|parquet|arrow|json|xlsx)$/;

/** What a project knows of copies of the exports below a folder. */
export async function copyFacts(dir: string, root: string) {
  const journal = await readExportsJournal(dir);
  return {
    manifestNames,
    isData: (name: string) => dataOfExport.test(name) || /^[^._].*\.parquet$/.test(name),
    filesOf: filesOfManifest,
    async isOfProject(folder: string, name: string, text: string): Promise<boolean | undefined> {
      if (folder.split('/').includes('..')) return undefined;
      const [local, sha256] = [join(root, folder), sha256OfText(text)];
      const here = await readManifest(local, name).catch((error: unknown) => {
        if (error instanceof NoManifestError) return null;
        throw error;
      });
      // Others may write in the folder of exports too; what is older than the journal is not in it.
      return here === undefined ? undefined : here?.sha256 === sha256 && (await journal.has(local, sha256)) !== false;
    },
  };
}

/**
 * The files that a manifest names; of an earlier version each followed by its stable name (`latest.csv`), which has the same
 * content. Throws NoManifestError.
 */
export function filesOfManifest(name: string, text: string): readonly ContentFile[] {
  if (name !== hashedManifestName) return plainFiles(text);
  const manifest: Manifest = parseManifest(text);
  return manifest.files.flatMap((file) => {
    const { bytes, sha256 } = file;
    const stable = latestName(manifest, file.name);
    return [{ name: file.name, bytes, sha256 }, ...(stable === undefined ? [] : [{ name: stable, bytes, sha256 }])];
  });
}

/** The list `files` of any manifest. */
function plainFiles(text: string): readonly ContentFile[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new NoManifestError(`it is not JSON: ${messageOf(error)}`);
  }
  const { files } = (value ?? {}) as { readonly files?: unknown };
  if (!Array.isArray(files)) throw new NoManifestError('"files" is not a list');
  return files.map((entry, index) => {
    const { name, bytes, sha256 } = (entry ?? {}) as Record<string, unknown>;
    const isSafe = typeof name === 'string' && name !== '' && !/^\/|\\|(^|\/)\.\.(\/|$)/.test(name);
    if (!isSafe || typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256) || !Number.isSafeInteger(bytes)) {
      throw new NoManifestError(`"files"[${index}] has no name, bytes and sha256`);
    }
    return { name, bytes: Number(bytes), sha256 };
  });
}
