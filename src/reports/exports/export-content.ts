import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { bytesOf } from '../../base/regular-file.ts';
import { exportFormats } from '../../tables/file-formats.ts';
import { latestName, reportFolderOf } from './export-names.ts';
import { readExportsJournal } from './exports-journal.ts';
import {
  hashedManifestName,
  type Manifest,
  manifestNames,
  mostManifestBytes,
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
    const manifest = await bytesOf(join(folder, name), mostManifestBytes).then(
      String,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
        throw error;
      },
    );
    if (manifest !== undefined) return { manifestName: name, manifest, files: filesOfManifest(name, manifest) };
  }
  return undefined;
}

/**
 * Whether the manifest in a store is of books that know more than these: it is as of a later instant, or of a close that the own
 * one is not of, and this project never recorded it. A damaged manifest is of no books.
 */
export async function isOfLaterBooks(
  dir: string,
  folder: string,
  manifests: { readonly stored: string; readonly own: string },
): Promise<boolean> {
  const sha256 = sha256OfText(manifests.stored);
  const own = parseManifest(manifests.own);
  if (own.previous?.sha256 === sha256 || (await (await readExportsJournal(dir)).has(folder, sha256)) === true)
    return false;
  try {
    const { asOf, closedAt } = parseManifest(manifests.stored);
    return Date.parse(asOf) > Date.parse(own.asOf) || (closedAt !== null && closedAt !== own.closedAt);
  } catch (error) {
    if (error instanceof NoManifestError) return false;
    throw error;
  }
}

/** What readers of all months of a report read: it belongs beside a manifest. */
export const dataOfExport = new RegExp(`^latest(-[a-z]+)?\\.(${exportFormats.join('|')})$`);

/** What readers of a whole folder take for the list or the columns of its Parquet files: it could name others. */
const describesParquet = /(^|\/)(_(common_)?metadata$|_delta_log\/)/;

/** The format that readers take a file for: by its extension, in any case, with or without one of a compression. */
export function formatOfName(name: string): string {
  if (describesParquet.test(name)) return '.parquet';
  // Patterns such as *.csv match a name that is nothing but the extension.
  const plain = name.toLowerCase().replace(/\.(gz|zst|bz2|xz|lz4|snappy|deflate)$/, '');
  return /\.[^./]*$/.exec(plain)?.[0] ?? '';
}

/** Whether readers of whole folders take a file of this name for data, whatever an export consists of. */
export function isData(path: string): boolean {
  return dataOfExport.test(path.slice(path.lastIndexOf('/') + 1)) || ['.csv', '.parquet'].includes(formatOfName(path));
}

/**
 * Whether readers of a report's folder read a file in it, given its path below that folder: data by its name, and whatever is not
 * hidden. Spark, Athena and pyarrow read every file but those, and Spark takes `_x=1` for a partition.
 */
export function isReadInReport(path: string): boolean {
  const isHidden = (name: string) =>
    name === '' || name.startsWith('.') || (name.startsWith('_') && !name.includes('='));
  return isData(path) || !path.split('/').some(isHidden);
}

/** What a project knows of copies of the exports below a folder. */
export async function copyFacts(dir: string, root: string) {
  const journal = await readExportsJournal(dir);
  // From what the project has recorded, not from the names in a store: those may lead anywhere, and spell a folder in many ways.
  const own = new Map<string, string>();
  const real = await realPath(root);
  for (const folder of journal.folders)
    own.set(
      relative(real, await realPath(folder))
        .split(sep)
        .join('/'),
      folder,
    );
  return {
    /** The exports that are here, by their folders in a store, which should have a copy of each. */
    here: async () => {
      const found: string[] = [];
      for (const [folder, local] of own) {
        if (!folder.startsWith('../') && (await contentOfExport(local).catch(() => null)) !== undefined)
          found.push(folder);
      }
      return found.sort();
    },
    manifestNames,
    reportOf: (folder: string) => reportFolderOf('', folder),
    isData,
    isReadInReport,
    formatOf: formatOfName,
    filesOf: filesOfManifest,
    async isOfProject(folder: string, name: string, text: string): Promise<boolean | undefined> {
      const local = own.get(folder);
      if (local === undefined) return undefined;
      const sha256 = sha256OfText(text);
      const here = await readManifest(local, name).catch((error: unknown) => {
        if (error instanceof NoManifestError) return null;
        throw error;
      });
      // Others may write in the folder of exports too.
      return here === undefined ? undefined : here?.sha256 === sha256 && (await journal.isLast(local, sha256));
    },
  };
}

function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
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
