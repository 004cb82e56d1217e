import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatInstant, type Instant } from '../time.ts';
import type { JsonValue } from '../warehouse/index.ts';
import { sha256OfText } from './manifest.ts';

/** A parameter of a report as it was asked. */
export interface AskedParameter {
  readonly name: string;
  /** The value as it leaves the house: months as `2026-10`. */
  readonly display: JsonValue;
  readonly isDefault: boolean;
  /** Whether the report can do without being told. */
  readonly hasDefault: boolean;
}

/** Where an export's files go. */
export interface ExportPlace {
  /** The folder of the report: of all its periods. */
  readonly reportFolder: string;
  /** The folder of the manifest. */
  readonly folder: string;
}

/**
 * The folders of an export below `root`. `<report>/` holds what the report says of the present with its defaults, each
 * period once, so that all of it can be read together: `<report>/BILLING_PERIOD=2026-10/`. What was asked otherwise
 * stands in folders in front: `as-of=2026-10-03T000000Z/<report>/…`, `workspace=north/<report>/…`. `asOf` is given
 * where the report would not be answered as of then by itself, `now` for the present of a month that is closed. A value that must be
 * given because there is no default names a folder of the report's: `<report>/metric=orders.csv/`.
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

/** What a folder's name may hold on every file system that we know. */
const maxValueBytes = 180;

/** `name=value` as the name of a folder, as Hive writes partitions. A value that is too long for one ends in its digest. */
export function segment(name: string, value: string): string {
  const encoded = hiveEncode(value);
  if (Buffer.byteLength(encoded) <= maxValueBytes) return `${name}=${encoded}`;
  const beginning = [...value].slice(0, 40).join('');
  return `${name}=${hiveEncode(beginning)}-${sha256OfText(value).slice(0, 16)}`;
}

/**
 * A value as Hive and Spark write it in a partition's folder: what is special to a path, a URL or a glob becomes `%XX`.
 * Readers turn every `%XX` back, so that a few more of them than Hive has change nothing.
 */
export function hiveEncode(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what is encoded
  return value.replace(/[\0-\x1F"#%'*/:=?\\\x7F{}[\]^<>|+]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

/** The real path of a folder that need not exist yet: SQL is allowed files by their real names. */
export async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(folder) === folder) throw error;
    return join(await realFolder(dirname(folder)), basename(folder));
  });
}
