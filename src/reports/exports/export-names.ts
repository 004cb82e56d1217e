import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileTypes } from '../../tables/file-formats.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import type { JsonValue } from '../../warehouse/store/index.ts';
import { makeFolders, partOf } from './durable.ts';
import { type Manifest, sha256OfText } from './manifest.ts';

/** A parameter of a report with its value for one export. */
export interface AskedParameter {
  readonly name: string;
  /** The value as files show it: months as `2026-10`. */
  readonly display: JsonValue;
  readonly isDefault: boolean;
  /** Whether the parameter may be omitted. */
  readonly hasDefault: boolean;
}

/** The folders of an export. */
export interface ExportPlace {
  /** The project whose journal records the manifest; undefined if nobody does. */
  readonly project?: string;
  /** The folder of all exports. */
  readonly root: string;
  /** The folder of the report, with all its periods. */
  readonly reportFolder: string;
  /** The folder of the manifest. */
  readonly folder: string;
}

/**
 * The folders of an export below `root`. `<report>/` holds the current answers with default parameters, each period once,
 * so that a reader can read all of it together: `<report>/BILLING_PERIOD=2026-10/`. Other values are folders in front:
 * `as-of=2026-10-03T000000Z/<report>/…`, `workspace=north/<report>/…`. A value without a default is a folder below the
 * report: `<report>/metric=orders.csv/`. Pass `asOf` only if it differs from the instant that the report answers for by
 * itself; `now` is the present of a closed month.
 */
export function exportPlace(
  root: string,
  report: string,
  parameters: readonly AskedParameter[],
  asOf?: Instant | 'now',
): ExportPlace {
  const month = parameters.find(({ name }) => name === 'month');
  const others = parameters.filter((parameter) => parameter !== month && !parameter.isDefault);
  const front = [
    ...(asOf === undefined ? [] : [segment('as-of', asOf === 'now' ? asOf : formatInstant(asOf).replaceAll(':', ''))]),
    ...others.filter(({ hasDefault }) => hasDefault).map(({ name, display }) => segmentOf(name, display)),
  ];
  const behind = [
    ...others.filter(({ hasDefault }) => !hasDefault).map(({ name, display }) => segmentOf(name, display)),
    ...(month === undefined || month.display === null ? [] : [monthFolder(textOf(month.display))]),
  ];
  const reportFolder = below(root, ...front, report);
  return { root, reportFolder, folder: below(reportFolder, ...behind) };
}

/** The folder of the exports of a month, `2026-10`. */
export function monthFolder(month: string): string {
  return segment('BILLING_PERIOD', month);
}

/** Makes the folders of an export. Throws as `makeFolders`. */
export function makePlace({ root, folder }: ExportPlace): Promise<void> {
  return makeFolders(root, relative(root, folder).split(sep));
}

/** A folder below another. Throws if one of the names leads elsewhere: names come from files and from people. */
function below(root: string, ...names: readonly string[]): string {
  for (const name of names) {
    if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
      throw new Error(`"${name}" is no name of a folder below ${root}`);
    }
  }
  return join(root, ...names);
}

function textOf(display: JsonValue): string {
  if (display === null) return '*';
  return typeof display === 'string' ? display : JSON.stringify(display);
}

/** The folder of the report of an export below `root`, by the names of its folders: who reads a report reads all of it. */
export function reportFolderOf(root: string, folder: string): string {
  let report = folder;
  while (report !== root && /^[\w-]+=/.test(basename(report))) report = report.slice(0, -basename(report).length - 1);
  return report;
}

/** A parameter and its value as a folder's name. */
export function segmentOf(name: string, value: JsonValue): string {
  return segment(name, textOf(value));
}

/** The length that every common file system allows in a folder's name, with room for the parameter's name. */
const maxValueBytes = 180;

/** `name=value` as a folder's name, as Hive writes partitions. A value that is too long is cut and ends in its SHA-256. */
export function segment(name: string, value: string): string {
  const encoded = hiveEncode(value);
  if (Buffer.byteLength(encoded) <= maxValueBytes) return `${name}=${encoded}`;
  const beginning = [...value].slice(0, 40).join('');
  return `${name}=${hiveEncode(beginning)}-${sha256OfText(value).slice(0, 16)}`;
}

/**
 * A value as Hive and Spark write it in a partition's folder: characters that are special in a path, URL or glob become
 * `%XX`. Readers decode every `%XX`, so a few more than Hive encodes change nothing.
 */
export function hiveEncode(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what is encoded
  return value.replace(/[\0-\x1F"#%'*/:=?\\\x7F{}[\]^<>|+]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** The kind of the CSV for people, in the name of its file. */
export const excelKind = 'excel';

type NamedExport = Pick<Manifest, 'report' | 'parameters'>;

/** The name of a data file: `latest.csv`, `latest-metadata.json`. It stays the same, so a folder has each row once. */
export function dataName(named: NamedExport, stem: string, extension: string): string {
  const name = latestName(named, `${stem}-00000000.${extension}`);
  if (name === undefined) throw new Error(`${stem} is no file of ${named.report}`);
  return name;
}

const extensions = Object.keys(fileTypes);
const hashedName = new RegExp(`^(.+)-[0-9a-f]{8}\\.(${extensions.join('|')})$`);

/**
 * The stable name of a data file that an earlier version named by its hash: `latest.csv`, `latest-metadata.json`. The CSV
 * for people has a name that makes sense in a mail: `chargeback-2026-10.csv`. Undefined if the name is none of the report's exports.
 */
export function latestName({ report, parameters }: NamedExport, name: string): string | undefined {
  const [, stem = '', extension = ''] = hashedName.exec(name) ?? [];
  const { month, owner } = parameters;
  const ofMonth = typeof month === 'string' ? [month] : [];
  if (stem === `${report}-${excelKind}`) return `${[report, ...ofMonth].join('-')}.${extension}`;
  if (stem === report && isStatement(report)) {
    const ofOwner = typeof owner === 'string' ? [owner.replace(/[^\p{L}\p{N}._]+/gu, '_').slice(0, 60)] : [];
    return `${['statement', ...ofOwner, ...ofMonth].join('-')}.${extension}`;
  }
  if (stem === report) return `latest.${extension}`;
  return stem.startsWith(`${report}-`) ? `latest-${stem.slice(report.length + 1)}.${extension}` : undefined;
}

/** Whether a report gives its files this name, or an earlier version did: only such files are ever removed. */
export function isExportName(named: NamedExport, name: string): boolean {
  const stems = ['', '-metadata', `-${excelKind}`].map((kind) => `${named.report}${kind}`);
  const own = stems.flatMap((stem) =>
    extensions.map((extension) => latestName(named, `${stem}-00000000.${extension}`)),
  );
  return isDataName(named.report, name) || own.includes(name);
}

/** Whether a name is one of FOCUS's metadata: a file without rows. */
export function isMetadataName(name: string): boolean {
  return /^[a-z_0-9]+-metadata(-[0-9a-f]{8})?\.json$/.test(name);
}

/** Whether an export is a statement of a month: people sign it, so its files have names that say what they are. */
function isStatement(report: string): boolean {
  return report === 'statement' || report === 'owner_statement';
}

/** Whether a name in a report's folder is one that only its exports use: the stem, a hash and an extension. */
export function isDataName(report: string, name: string): boolean {
  const [, stem = ''] = hashedName.exec(name) ?? [];
  return stem === report || (stem.startsWith(`${report}-`) && /^[a-z]+$/.test(stem.slice(report.length + 1)));
}

/** A new path for the Parquet file of a report, by its real folder, as SQL is granted access to files. */
export async function parquetPartIn({ folder }: ExportPlace, report: string): Promise<string> {
  return partOf(join(await realFolder(folder), `${report}.parquet`));
}

/** The real path of a folder, which may not exist yet. */
async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(folder) === folder) throw error;
    return join(await realFolder(dirname(folder)), basename(folder));
  });
}
