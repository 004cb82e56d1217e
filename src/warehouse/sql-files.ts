import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../errors.ts';

/** The folders of sql/. */
export type SqlFolder =
  | 'migrations'
  | 'schema'
  | 'ledger'
  | 'load'
  | 'inventory'
  | 'journal'
  | 'clocks'
  | 'verify'
  | 'as_of'
  | 'compare'
  | 'partitions'
  | 'jobs'
  | 'closing'
  | 'allocation'
  | 'alerts'
  | 'views'
  | 'reports'
  | 'checks'
  | 'budgets'
  | 'forecasts'
  | 'metrics'
  | 'anomalies'
  | 'publish'
  | 'restatements'
  | 'status'
  | 'demo';

/** One SQL file: its header and its text. */
export interface SqlFile {
  /** File name without `.sql`. */
  readonly name: string;
  readonly path: string;
  readonly header: Readonly<Record<string, string>>;
  /** The whole text including the header, with the fragments that it includes; each line ends with a line feed only. */
  readonly text: string;
  /** `file:line` of each line of the text; undefined if the file includes nothing. */
  readonly places?: readonly string[];
  /** Why a user's file cannot be used, with file, line and column; undefined if it can. */
  readonly problems?: readonly string[];
}

const headerKeys = new Set([
  ...['about', 'grain', 'params', 'formats', 'severity', 'cost', 'partition', 'evaluated', 'spread', 'totals'],
  ...['top', 'important', 'sparkline'],
]);

/** The folder of the built-in SQL files: next to `src` in a checkout, next to `dist` in a package. */
export const builtInSql = fileURLToPath(new URL('../../sql', import.meta.url));

/**
 * Reads all SQL files of a folder by name; those in `overlay` (a user's own `sql/`) replace built-in ones. Errors in a
 * file are in its `problems`, so that the others can be used. Throws if a built-in file is wrong.
 */
export async function readSqlFolder(folder: SqlFolder, overlay?: string): Promise<SqlFile[]> {
  const files = new Map<string, string>();
  for (const root of [builtInSql, ...(overlay === undefined ? [] : [overlay])]) {
    const names = await readdir(join(root, folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) {
      if (/\.sql$/i.test(name)) files.set(basename(name, '.sql'), join(root, folder, name));
    }
  }
  const read = await Promise.all(
    [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, path]) => readSqlFile(name, path)),
  );
  const problems = overlay === undefined ? read.flatMap((file) => file.problems ?? []) : [];
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return read;
}

async function readSqlFile(name: string, path: string): Promise<SqlFile> {
  const problems: string[] = [];
  if (!path.endsWith('.sql')) problems.push(`${path}: expected the ending .sql; rename the file`);
  const read = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    problems.push(`${path}: cannot be read (${error.code}); expected an SQL file`);
    return undefined;
  });
  const text = toLines(read ?? '');
  const header = read === undefined ? {} : parseHeader(text, path, problems);
  const included = hasInclude(text) ? await includeFragments({ text, path }, problems) : undefined;
  return {
    name,
    path,
    text: included === undefined ? text : included.map(({ line }) => line).join('\n'),
    ...(included === undefined ? {} : { places: included.map(({ place }) => place) }),
    header,
    ...(problems.length === 0 ? {} : { problems }),
  };
}

/** Removes what some editors write: a byte order mark, and lines that end in CRLF. */
function toLines(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

const includeLine = /^\s*--! *include:\s*(.*?)\s*$/;

function hasInclude(text: string): boolean {
  return text.includes('include:') && text.split('\n').some((line) => includeLine.test(line));
}

/** One line of an SQL text, and its `file:line`. */
interface PlacedLine {
  readonly line: string;
  readonly place: string;
}

/**
 * Replaces each line `--! include: name` by the lines of the fragment `name.sql` below its header. A fragment has a name
 * and no path, so that SQL cannot include other files. What is wrong is added to `problems`.
 */
export async function includeFragments(
  { text, path, fragments = join(builtInSql, 'fragments') }: { text: string; path: string; fragments?: string },
  problems: string[],
  including: readonly string[] = [],
): Promise<PlacedLine[]> {
  const expanded: PlacedLine[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${path}:${index + 1}`;
    const name = includeLine.exec(line)?.[1];
    if (name === undefined) {
      expanded.push({ line, place });
      continue;
    }
    const known = (await readdir(fragments)).map((file) => basename(file, '.sql')).sort();
    if (!known.includes(name)) {
      problems.push(`${place}:1: found include "${name}", expected one of ${known.join(', ')}`);
    } else if (including.includes(name)) {
      problems.push(`${place}:1: the fragments include each other: ${[...including, name].join(', ')}`);
    } else {
      const file = join(fragments, `${name}.sql`);
      const own = { text: toLines(await readFile(file, 'utf8')).trimEnd(), path: file, fragments };
      const lines = await includeFragments(own, problems, [...including, name]);
      expanded.push(...lines.slice(lines.findIndex((each) => !each.line.startsWith('--! about:'))));
    }
  }
  return expanded;
}

const builtInTexts = new Map<string, Promise<string>>();

/**
 * The text of one built-in file of a folder. Each file is read once per process: frequent statements need no file
 * access, and an upgrade of a running process does not mix two versions. Throws if the file is missing or wrong.
 */
export function readSql(folder: SqlFolder, name: string): Promise<string> {
  const path = join(builtInSql, folder, `${name}.sql`);
  const known = builtInTexts.get(path);
  if (known !== undefined) return known;
  const text = readBuiltIn(name, path);
  builtInTexts.set(path, text);
  // A failed read is not stored, so that the next call tries again.
  text.catch(() => builtInTexts.delete(path));
  return text;
}

async function readBuiltIn(name: string, path: string): Promise<string> {
  const { text, problems = [] } = await readSqlFile(name, path);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return text;
}

/** The `--! key: value` lines at the top of an SQL file. A repeated key continues its value. */
function parseHeader(text: string, path: string, problems: string[]): Record<string, string> {
  const header: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('--!') || includeLine.test(line)) break;
    const match = /^--! *([a-z]+): *(.*)$/.exec(line);
    const at = `${path}:${index + 1}:1`;
    if (!match) {
      problems.push(`${at}: found "${line}", expected "--! key: value"`);
      continue;
    }
    const [, key = '', value = ''] = match;
    if (!headerKeys.has(key))
      problems.push(`${at}: unknown header key "${key}", expected one of ${[...headerKeys].join(', ')}`);
    header[key] = header[key] === undefined ? value.trim() : `${header[key]} ${value.trim()}`;
  }
  if (header['about'] === undefined) problems.push(`${path}:1:1: the header has no "--! about:" line`);
  return header;
}
