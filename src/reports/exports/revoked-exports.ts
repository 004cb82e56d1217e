import { join, relative, sep } from 'node:path';
import { act, type NextStep } from '../../base/next-step.ts';
import { counted } from '../../text/counted.ts';
import { forTerminal } from '../../text/safe-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { formatInstant, type Instant, parseMonth } from '../../time/time.ts';
import { readSqlFolder } from '../../warehouse/sql/index.ts';
import type { Report } from '../questions/catalogue.ts';
import { excelKind } from './export-names.ts';
import { findExports } from './find-exports.ts';
import { type Manifest, NoManifestError, readManifest } from './manifest.ts';
import type { RevokedClose, RevokedExport } from './revoked-closes.ts';

/** What shows that the project had other books. */
export interface EarlierBooks {
  readonly found: string;
  readonly next: NextStep;
}

/** The revoked closes that an export shows, given its folder. */
export type ShownCloses = (manifest: Manifest, folder: string) => readonly RevokedClose[];

/**
 * Which of the revoked closes an export shows: the one that it is as of; or, if its SQL reads closed months as they were
 * billed, each that was valid when it was written, unless its month is after the period of the export.
 */
export async function shownAmong(closes: readonly RevokedClose[], reports: readonly Report[]): Promise<ShownCloses> {
  if (closes.length === 0) return () => [];
  const readsCloses = await readerOfCloses();
  const names = new Set(reports.filter(({ file }) => readsCloses(file.text)).map(({ name }) => name));
  // The statement of a month has the lines of its invoice.
  if (names.has('invoice_lines')) names.add('statement');
  return (manifest, folder) => {
    const { closedAt, report } = manifest;
    if (closedAt !== null) return closes.filter((close) => formatInstant(close.closedAt) === closedAt);
    const asOf = asOfIn(folder);
    if (!names.has(report) || (asOf !== undefined && asOf !== 'now')) return [];
    const at = Date.parse(manifest.asOf);
    const end = endOf(manifest);
    return closes.filter(
      (close) => close.closedAt <= at && at < close.reopenedAt && parseMonth(close.month, 'month').start < end,
    );
  };
}

/** The value of `--as-of` in a folder of an export; undefined if the export has none. */
function asOfIn(folder: string): string | undefined {
  const part = folder.split(sep).findLast((one) => one.startsWith('as-of='));
  return part?.slice('as-of='.length);
}

/** The end of the period of an export, exclusive; infinite if it has none. */
function endOf({ parameters: { month, to } }: Manifest): Instant {
  // Another text is of a manifest that `verify` reports.
  if (typeof month === 'string' && /^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return parseMonth(month, 'month').end;
  return typeof to === 'string' ? Date.parse(to) : Number.POSITIVE_INFINITY;
}

/** Whether SQL reads the closes, itself or through views. */
async function readerOfCloses(): Promise<(sql: string) => boolean> {
  const views = (await readSqlFolder('views')).map(({ name, text }) => ({ name, text: withoutComments(text) }));
  const found = new Set(['closes']);
  const reads = (sql: string) => [...found].some((name) => new RegExp(`\\b${name}\\b`, 'i').test(sql));
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { name, text } of views) if (reads(text)) found.add(name);
  }
  return (sql) => reads(withoutComments(sql));
}

/** Comments mention other views. */
function withoutComments(sql: string): string {
  return sql.replace(/--[^\n]*/g, '');
}

/** The exports below `root` whose manifest can be read, in order: `verify` reports the others. A missing folder has none. */
async function* exportsBelow(root: string): AsyncGenerator<{ readonly folder: string; readonly manifest: Manifest }> {
  const folders = await findExports(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  for (const folder of folders) {
    const read = await readManifest(folder).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof NoManifestError || error.syscall !== undefined) return undefined;
      throw error;
    });
    if (read !== undefined) yield { folder, manifest: read.manifest };
  }
}

/**
 * An export below `root` of books that were complete before these had their first run at `begun`, in words with what to do: the earlier
 * books are lost, and their closes, alerts and restatements with them. Undefined if there is none.
 */
export async function earlierBooks(root: string, begun: string | null): Promise<EarlierBooks | undefined> {
  if (begun === null) return undefined;
  for await (const { folder, manifest } of exportsBelow(root)) {
    const { asOf, completeThrough } = manifest;
    if (completeThrough === null || Date.parse(asOf) >= Date.parse(begun)) continue;
    return {
      found: `these books began at ${begun}, but ${folder} was written from books as of ${asOf}, whose closes, alerts and restatements are not in these`,
      next: act(
        `restore the folder data of that time from a backup. If there is none, run "costbook ${commandFor(manifest, relative(root, folder))}" to replace the export.`,
      ),
    };
  }
  return undefined;
}

/** The exports below `root` that show a revoked close, in order. A missing folder has none. `out` is `root` if it is not the usual folder. */
export async function revokedExports(root: string, shown: ShownCloses, out?: string): Promise<RevokedExport[]> {
  const found: RevokedExport[] = [];
  for await (const { folder, manifest } of exportsBelow(root)) {
    const below = relative(root, folder);
    const closes = shown(manifest, join(root, below));
    if (closes.length === 0) continue;
    found.push({
      folder: below,
      closedAt: formatInstant(Math.max(...closes.map(({ closedAt }) => closedAt))),
      months: [...new Set(closes.map(({ month }) => month))].sort(),
      isClosedAgain: closes.every(({ isClosedAgain }) => isClosedAgain),
      command: `${commandFor(manifest, below)}${outWords(out)}`,
    });
  }
  return found;
}

/**
 * What to print about exports that differ and show no revoked close: the commands that write them again, and the folders that
 * have no manifest to name one; undefined if there are none.
 */
export async function differingWords(
  root: string,
  differing: ReadonlySet<string>,
  out?: string,
): Promise<string | undefined> {
  const commands = new Set<string>();
  const unnamed = new Set(differing);
  for await (const { folder, manifest } of exportsBelow(root)) {
    const below = relative(root, folder);
    if (unnamed.delete(below || '.')) commands.add(`${commandFor(manifest, below)}${outWords(out)}`);
  }
  const words = [
    ...(commands.size === 0 ? [] : againWords(differing.size - unnamed.size, commands)),
    ...(unnamed.size === 0 ? [] : unnamedWords(unnamed)),
  ];
  return words.length === 0 ? undefined : words.join('\n');
}

function againWords(count: number, commands: ReadonlySet<string>): string[] {
  const [verb, them] = count === 1 ? ['differs', 'it'] : ['differ', 'them'];
  return [
    `${counted(count, 'export')} ${verb}. Find out who changed ${them}, or write ${them} again:`,
    ...[...commands].map((command) => `  costbook ${forTerminal(command)}`),
  ];
}

function unnamedWords(folders: ReadonlySet<string>): string[] {
  const [has, it] = folders.size === 1 ? ['has', 'it'] : ['have', 'them'];
  return [
    `${counted(folders.size, 'export')} ${has} no manifest that can be read. Run the reports that wrote ${it} again, or delete ${it}:`,
    ...[...folders].map((folder) => `  ${forTerminal(folder)}`),
  ];
}

/** The option of another folder than the usual one. */
function outWords(out: string | undefined): string {
  return out === undefined ? '' : ` --out ${shellWord(out)}`;
}

/** The command of an export: the parameters that are not the defaults are in the names of its folders. */
export function commandFor({ report, parameters, files }: Manifest, folder: string): string {
  const { month, owner, dimension } = parameters;
  const ofMonth = typeof month === 'string' ? ` --month ${shellWord(month)}` : '';
  if (files.some(({ format }) => format === 'html')) {
    const ofOwner = typeof owner === 'string' ? ` --owner ${shellWord(owner)}` : '';
    const by = typeof dimension === 'string' && dimension !== 'team' ? ` --by ${shellWord(dimension)}` : '';
    return `statement${ofMonth}${ofOwner}${by}`;
  }
  const names = folder.split(sep).flatMap((part) => /^([a-z_]+)=/.exec(part)?.[1] ?? []);
  const given = names.map((name) => {
    const value = String(parameters[name] ?? '*');
    return name === 'from' || name === 'to'
      ? ` --${name} ${shellWord(value)}`
      : ` --param ${shellWord(`${name}=${value}`)}`;
  });
  const formats = [...new Set(files.flatMap(({ format, rows }) => (rows === null ? [] : [format])))].join(',');
  const excel = files.find(({ format }) => format === excelKind);
  return [
    `report ${shellWord(report)}${ofMonth}${given.join('')}`,
    ...(asOfIn(folder) === 'now' ? ['--as-of now'] : []),
    ...(formats === '' ? [] : [`--format ${shellWord(formats)}`]),
    ...(excel === undefined
      ? []
      : [
          excel.language === undefined ? '--excel' : shellWord(`--excel=${excel.language}`),
          ...(excel.totals === true ? ['--totals'] : []),
        ]),
  ].join(' ');
}
