import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import type { Parse } from '../yaml/index.ts';

/** Only the user who runs Costbook reads and writes its files. */
const defaultMode = 0o600;

/** A file mode such as 0640: the owner reads and writes, the group and others read, read and write, or neither. */
export const parseFileMode: Parse<number> = (value) => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (/^0?6[046][046]$/.test(text)) return Number.parseInt(text, 8);
  throw new UsageError(`found ${quoted(text)}, expected a file mode such as 0600, 0640 or 0644`);
};

/** The umask that gives new files this mode, and new folders this mode plus x for each r. */
export function umaskOf(mode: number): number {
  return 0o777 & ~(mode | ((mode & 0o444) >> 2));
}

/**
 * The mode of new files from COSTBOOK_FILE_MODE, or fileMode in costbook.yaml. An unreadable configuration gives the
 * strictest mode; the command that reads the configuration reports the mistake.
 */
export async function readFileMode(dir: string, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  try {
    if (env['COSTBOOK_FILE_MODE']) return parseFileMode(env['COSTBOOK_FILE_MODE']);
    const file = join(dir, 'costbook.yaml');
    if (!existsSync(file)) return defaultMode;
    const { gatherProblems, parseYaml, readYamlFile } = await import('../yaml/index.ts');
    const text = readYamlFile(file);
    if (text === undefined || !text.includes('fileMode')) return defaultMode;
    const { value } = parseYaml(text, file, gatherProblems()).root;
    if (typeof value !== 'object' || value?.kind !== 'mapping') return defaultMode;
    const given = value.entries.find(({ key }) => key.value === 'fileMode')?.value.value;
    return parseFileMode(typeof given === 'string' ? (await import('./references.ts')).expand(given, env).text : given);
  } catch {
    return defaultMode;
  }
}
