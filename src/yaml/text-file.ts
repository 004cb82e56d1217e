import { readFileSync, statSync } from 'node:fs';
import type { Problems } from './yaml.ts';

const maxFileBytes = 8 * 1024 * 1024;

/** The text of a UTF-8 file that another file names; undefined if it cannot be read, which is reported. */
export function readTextFile(file: string, what: string, problems: Problems): string | undefined {
  try {
    const stat = statSync(file);
    // To read a pipe or a device may never end.
    if (!stat.isFile()) {
      problems.report({ where: file, file }, `found no regular file, expected ${what}; correct the name`);
      return undefined;
    }
    const { size } = stat;
    if (size > maxFileBytes) {
      problems.report({ where: file, file }, `found ${size} bytes, expected at most 8 MiB; remove what is not needed`);
      return undefined;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const fault = code.startsWith('ERR_ENCODING')
      ? 'found bytes that are not UTF-8; save the file as UTF-8'
      : code === 'ENOENT'
        ? `found no such file, expected ${what}; create it, or correct the name`
        : `cannot be read (${code}); give the user who runs Costbook read access`;
    problems.report({ where: file, file }, fault);
    return undefined;
  }
}
