import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import { shipped } from '../../base/places.ts';
import { hasInclude, includeFragments, toLines } from './sql-fragments.ts';
import { parseHeader } from './sql-header.ts';
import { viewInOrder } from './statements.ts';

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
  | 'lake'
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
  | 'serve'
  | 'statement'
  | 'mcp'
  | 'demo'
  | 'engine'
  | 'lake_views'
  | 'answer_cache'
  | 'figures';

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

/** The folder of the built-in SQL files. */
export const builtInSql = shipped('sql');
const fragments = join(builtInSql, 'fragments');

/** Whether a file is part of the program, not of a user's own `sql` folder. */
export function isBuiltIn({ path }: Pick<SqlFile, 'path'>): boolean {
  return path.startsWith(join(builtInSql, sep));
}

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
    [...files]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, path]) => (isBuiltIn({ path }) ? readBuiltIn(name, path) : readOwn(name, path))),
  );
  const problems = overlay === undefined ? read.flatMap((file) => file.problems ?? []) : [];
  if (problems.length > 0) throw new UsageError(problems);
  return read;
}

/** What a report, a check or a view may be called. Names become folders, and parts of keys and of SQL. */
const namePattern = /^[a-z][a-z0-9_]*$/;

/** Reads a user's file; its name is checked here, so that no other place sees one that leads out of a folder. */
async function readOwn(name: string, path: string): Promise<SqlFile> {
  const file = await readSqlFile(name, path);
  if (namePattern.test(name)) return file;
  const words = `${path}: found the name "${name}", expected lowercase letters, digits and _, such as cost_by_team.sql; rename the file`;
  return { ...file, problems: [...(file.problems ?? []), words] };
}

async function readSqlFile(name: string, path: string, instead?: Readonly<Record<string, string>>): Promise<SqlFile> {
  const problems: string[] = [];
  if (!path.endsWith('.sql')) problems.push(`${path}: expected the ending .sql; rename the file`);
  const read = await readRegular(path).catch((error: NodeJS.ErrnoException) => {
    problems.push(`${path}: cannot be read (${error.code ?? error.message}); expected an SQL file`);
    return undefined;
  });
  const lines = toLines(read ?? '');
  const header = read === undefined ? {} : parseHeader(lines, path, problems);
  // A table of the lake that is a header alone is the public view of its name, in the order of its grain.
  const isView = isBuiltIn({ path }) && lines.split('\n').every((line) => line === '' || line.startsWith('--!'));
  const text = isView ? lines + viewInOrder(name, header['grain'] ?? '') : lines;
  const included = hasInclude(text) ? await includeFragments({ text, path, fragments, instead }, problems) : undefined;
  return {
    name,
    path,
    text: included === undefined ? text : included.map(({ line }) => line).join('\n'),
    ...(included === undefined ? {} : { places: included.map(({ place }) => place) }),
    header,
    ...(problems.length === 0 ? {} : { problems }),
  };
}

/** The text of a regular file: a pipe or a device would be read for ever. Our own are small, and read at once: many are. */
async function readRegular(path: string): Promise<string> {
  if (isBuiltIn({ path })) return readFileSync(path, 'utf8');
  if (!(await stat(path)).isFile()) throw new Error('it is no regular file');
  return readFile(path, 'utf8');
}

const builtIn = new Map<string, Promise<SqlFile>>();

/**
 * Reads a built-in file. Each is read once per process: frequent statements need no file access, and an upgrade of a
 * running process does not mix two versions. A file that is missing or wrong is read again by the next call.
 */
function readBuiltIn(name: string, path: string, instead?: Readonly<Record<string, string>>): Promise<SqlFile> {
  const key = instead === undefined ? path : JSON.stringify([path, instead]);
  const known = builtIn.get(key);
  if (known !== undefined) return known;
  const file = readSqlFile(name, path, instead);
  builtIn.set(key, file);
  file.then(
    ({ problems }) => problems === undefined || builtIn.delete(key),
    () => builtIn.delete(key),
  );
  return file;
}

/** The text of one built-in file of a folder, with fragments `instead` of others. Throws if the file is missing or wrong. */
export async function readSql(
  folder: SqlFolder,
  name: string,
  instead?: Readonly<Record<string, string>>,
): Promise<string> {
  const { text, problems } = await readBuiltIn(name, join(builtInSql, folder, `${name}.sql`), instead);
  if (problems !== undefined) throw new Error(problems.join('\n'));
  return text;
}
