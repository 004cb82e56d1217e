import { relative, sep } from 'node:path';
import { counted } from '../counted.ts';
import { formatInstant } from '../time.ts';
import { type Connection, readSql } from '../warehouse/index.ts';
import { type Manifest, NoManifestError, readManifest } from './manifest.ts';
import { findExports } from './verify-exports.ts';

/** An export that shows a close which was revoked since. */
export interface RevokedExport {
  /** Its folder, relative to the folder that was searched. */
  readonly folder: string;
  /** The close that it shows. */
  readonly closedAt: string;
  /** The command that writes it again, without `costbook`. */
  readonly command: string;
}

/** The instants of all closes that were revoked by reopening their month. */
export async function revokedCloses(connection: Connection): Promise<ReadonlySet<string>> {
  const rows = await connection.rows(await readSql('closing', 'revoked_closes'));
  return new Set(rows.map((row) => formatInstant(Number(row['closed_at']))));
}

/** The exports below `root` that show a revoked close, in order. A missing folder has none. */
export async function revokedExports(root: string, revoked: ReadonlySet<string>): Promise<RevokedExport[]> {
  if (revoked.size === 0) return [];
  const folders = await findExports(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const found: RevokedExport[] = [];
  for (const folder of folders) {
    // `verify` reports a manifest that cannot be read.
    const manifest = await readManifest(folder).catch((error: unknown) => {
      if (error instanceof NoManifestError) return undefined;
      throw error;
    });
    const closedAt = manifest?.manifest.closedAt ?? null;
    if (manifest === undefined || closedAt === null || !revoked.has(closedAt)) continue;
    const below = relative(root, folder);
    found.push({ folder: below, closedAt, command: commandFor(manifest.manifest, below) });
  }
  return found;
}

/**
 * What to print about exports that show a revoked close; undefined if there are none. With `isClosedAgain`, their month was
 * just closed.
 */
export function revokedWords(
  exports: readonly RevokedExport[],
  { isClosedAgain = false }: { readonly isClosedAgain?: boolean } = {},
): string | undefined {
  if (exports.length === 0) return undefined;
  const commands = [...new Set(exports.map(({ command }) => command))];
  const [verb, them] = exports.length === 1 ? ['shows', 'it'] : ['show', 'them'];
  const step = isClosedAgain ? `Write ${them} again:` : `When the month is closed, write ${them} again:`;
  return [
    `${counted(exports.length, 'export')} ${verb} a revoked close. ${step}`,
    ...commands.map((command) => `  costbook ${command}`),
  ].join('\n');
}

/** The command of an export: the parameters that are not the defaults are in the names of its folders. */
function commandFor({ report, parameters, files }: Manifest, folder: string): string {
  const month = parameters['month'];
  const ofMonth = typeof month === 'string' ? ` --month ${month}` : '';
  const names = folder.split(sep).filter((part) => /^[a-z_]+=/.test(part));
  const given = names.map((part) => ` --param ${decodeURIComponent(part)}`).join('');
  const formats = [...new Set(files.flatMap(({ format, rows }) => (rows === null ? [] : [format])))].join(',');
  return files.some(({ format }) => format === 'html')
    ? `statement${ofMonth}`
    : `report ${report}${ofMonth}${given} --format ${formats}`;
}
