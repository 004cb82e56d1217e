import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { latestName } from './export-names.ts';
import { hashedManifestName, type Manifest, manifestNames, NoManifestError, parseManifest } from './manifest.ts';

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
