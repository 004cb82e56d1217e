import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatInstant, type Instant } from '../time.ts';
import type { JsonValue } from '../warehouse/index.ts';
import { sha256OfText } from './manifest.ts';

/** A parameter of a report with its value. */
export interface AskedParameter {
  readonly name: string;
  /** The value as people see it: months as `2026-10`. */
  readonly display: JsonValue;
  readonly isDefault: boolean;
  /** Whether the parameter has a default. */
  readonly hasDefault: boolean;
}

/** Where an export's files go. */
export interface ExportPlace {
  /** The folder of the report, with all its periods. */
  readonly reportFolder: string;
  /** The folder of the manifest. */
  readonly folder: string;
}

/**
 * The folders of an export below `root`. `<report>/` contains the report on the current books with its defaults, each
 * period once, so that all periods can be read together: `<report>/BILLING_PERIOD=2026-10/`. Other values get a folder
 * in front: `as-of=2026-10-03T000000Z/<report>/…`, `workspace=north/<report>/…`. `asOf` is set if it differs from the
 * usual instant; `now` means the current numbers of a closed month. A parameter without a default gets a folder below
 * the report: `<report>/metric=orders.csv/`.
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
    ...others.filter(({ hasDefault }) => hasDefault).map(({ name, display }) => segment(name, textOf(display))),
  ];
  const behind = [
    ...others.filter(({ hasDefault }) => !hasDefault).map(({ name, display }) => segment(name, textOf(display))),
    ...(month === undefined || month.display === null ? [] : [segment('BILLING_PERIOD', textOf(month.display))]),
  ];
  const reportFolder = join(root, ...front, report);
  return { reportFolder, folder: join(reportFolder, ...behind) };
}

function textOf(display: JsonValue): string {
  if (display === null) return '*';
  return typeof display === 'string' ? display : JSON.stringify(display);
}

/** The most bytes of a value in a folder name, so that all common file systems support the name. */
const maxValueBytes = 180;

/** The folder name `name=value`, as Hive writes partitions. A value that is too long ends with its SHA-256. */
export function segment(name: string, value: string): string {
  const encoded = hiveEncode(value);
  if (Buffer.byteLength(encoded) <= maxValueBytes) return `${name}=${encoded}`;
  const beginning = [...value].slice(0, 40).join('');
  return `${name}=${hiveEncode(beginning)}-${sha256OfText(value).slice(0, 16)}`;
}

/**
 * A value as Hive and Spark write it in a folder name: characters that are special in a path, a URL or a glob become
 * `%XX`. Readers decode every `%XX`, so encoding a few more characters than Hive does no harm.
 */
export function hiveEncode(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what is encoded
  return value.replace(/[\0-\x1F"#%'*/:=?\\\x7F{}[\]^<>|+]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** The real path of a folder, which may not exist yet. SQL is granted access to files by their real paths. */
export async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(folder) === folder) throw error;
    return join(await realFolder(dirname(folder)), basename(folder));
  });
}
