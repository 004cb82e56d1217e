import { excerpt, RefusedAnswerError } from '../base/errors.ts';
import { plainDecimal } from '../money/money.ts';
import { answerLimits } from '../platform/interface/index.ts';
import { formatInstant, parseRfc3339, type Window } from '../time/time.ts';
import type { Page, PageEntry, PagePoints } from '../warehouse/page.ts';
import { type AskedResolution, bucketNames, bucketsOf, floorBucket } from './plan/buckets.ts';
import { scanPoints } from './scan.ts';

/** Stored decimals of cost (USD) and usage (in its unit); the columns are DECIMAL(18,12) and DECIMAL(18,6). */
export const costScale = 12;
export const usageScale = 6;

/** What a page must answer. */
export interface Expected {
  readonly window: Window;
  readonly resolution: AskedResolution;
  /**
   * Whether its hours are sums that are only compared (a control): they may be larger than one hour of one series in
   * the books. Days and months always may.
   */
  readonly isCompared?: boolean;
  /** Account, window, query and page, for messages. */
  readonly about: string;
}

/** A page, and what the reader of the answer needs besides. */
export interface DecodedPage extends Page {
  readonly hasMore: boolean;
  readonly nextCursor: string | undefined;
  /**
   * Fields that the interface does not list, as paths such as `data[].region`; only the first ones if there are many.
   */
  readonly unknownFields: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const knownFields = {
  '': new Set(['startTime', 'endTime', 'resolution', 'summary', 'data', 'meta']),
  'summary.': new Set(['totalCost', 'totalUsage']),
  'meta.': new Set(['hasMore', 'nextCursor']),
  'data[].': new Set([
    'workspace',
    'resourceType',
    'resourceName',
    'resourceUuid',
    'billingDimension',
    'summary',
    'timeseries',
  ]),
  'data[].summary.': new Set(['cost', 'usage']),
  'data[].timeseries[].': new Set(['timestamp', 'cost', 'usage']),
} as const;

/**
 * Turns the JSON value of one page, grouped by billing dimension (among others), into typed columns.
 * \n Strict: throws RefusedAnswerError naming the place if the page echoes another window or resolution, if a bucket is
 * missing, repeated or outside the window, or if a number is missing, not finite or too large for its column. Decimals
 * beyond the column's scale are rounded. Unknown fields and values are stored and named; another currency is refused.
 */
export function decodePage(body: unknown, expected: Expected): DecodedPage {
  return decode(body, expected, undefined);
}

/**
 * As `decodePage`, from the bytes of a page, with its points read by scanning. `parse` turns bytes into a JSON value. A
 * page that is not written as scanning expects is decoded normally: the result is always the same.
 */
export function decodeBytes(bytes: Buffer, expected: Expected, parse: (bytes: Buffer) => unknown): DecodedPage {
  const scanned = scanPage(bytes, expected, parse);
  return scanned === undefined ? decodePage(parse(bytes), expected) : decode(scanned.body, expected, scanned.points);
}

/** The points of a page and the rest of it, if every entry has a series that could be scanned. */
function scanPage(
  bytes: Buffer,
  { window, resolution }: Expected,
  parse: (bytes: Buffer) => unknown,
): { body: unknown; points: PagePoints } | undefined {
  const starts = bucketsOf(window, resolution).map(({ start }) => start);
  // No bucket of a page is written in fewer bytes: `{"timestamp":"2026-10-01T00:00:00Z","cost":0,"usage":0},`.
  const columns = pointColumns(Math.ceil(bytes.length / 50));
  const scanned = scanPoints(bytes, starts, columns.add);
  if (scanned === undefined) return undefined;
  let body: { data?: unknown } | null;
  try {
    body = parse(scanned.rest) as typeof body;
  } catch {
    return undefined; // decoding the whole page gives a better error
  }
  const data = body?.data;
  if (!Array.isArray(data) || data.length !== scanned.series) return undefined;
  if (!data.every((entry, index) => entry?.timeseries === index)) return undefined;
  return { body, points: columns.points() };
}

/** Growing columns of points; points that are all zero are left out. */
function pointColumns(capacity: number): {
  /** False if an amount is refused. */
  add(entry: number, bucket: number, cost: unknown, usage: unknown): boolean;
  /** Which of the two amounts `add` refused: the cost if it is wrong, otherwise the usage. */
  refused(cost: unknown): { readonly field: 'cost' | 'usage'; readonly wanted: string };
  points(): PagePoints;
} {
  const { entries, buckets, costs, usages } = columnsFor(capacity);
  let count = 0;
  return {
    add(entry, bucket, cost, usage) {
      const hasCost = costs.set(count, cost);
      const hasUsage = usages.set(count, usage);
      if (hasCost === undefined || hasUsage === undefined) return false;
      if (hasCost || hasUsage) {
        entries[count] = entry;
        buckets[count] = bucket;
        count += 1;
      }
      return true;
    },
    refused: (cost) =>
      costs.set(count, cost) === undefined
        ? { field: 'cost', wanted: costs.wanted }
        : { field: 'usage', wanted: usages.wanted },
    points: () => ({
      count,
      entry: entries.slice(0, count),
      bucket: buckets.slice(0, count),
      cost: costs.values.slice(0, count),
      usage: usages.values.slice(0, count),
    }),
  };
}

/** Columns while they are filled. */
interface Columns {
  readonly capacity: number;
  readonly entries: Int32Array;
  readonly buckets: Int32Array;
  readonly costs: ReturnType<typeof amountColumn>;
  readonly usages: ReturnType<typeof amountColumn>;
}

/** The columns of the last page: new ones for each page would be most of the memory that has to be collected again. */
let lastColumns: Columns | undefined;
/** Larger columns, of unusual pages, are not kept: 6 MiB for 2^18 points. */
const maxPointsKept = 2 ** 18;

/** Columns for one page, which take as many points; decoding a page is not interrupted by another one. */
function columnsFor(capacity: number): Columns {
  if (lastColumns !== undefined && lastColumns.capacity >= capacity) return lastColumns;
  const columns = {
    capacity,
    entries: new Int32Array(capacity),
    buckets: new Int32Array(capacity),
    costs: amountColumn(capacity, costScale),
    usages: amountColumn(capacity, usageScale),
  };
  if (capacity <= maxPointsKept) lastColumns = columns;
  return columns;
}

/** Decodes a page; uses the given points if they were scanned before. */
function decode(body: unknown, expected: Expected, scanned: PagePoints | undefined): DecodedPage {
  const unknownFields = new Set<string>();
  const reader: PageReader = { ...expected, unknownFields };
  const page = objectAt(reader, body, 'the body');
  noteUnknown(reader, page, '');
  checkEcho(reader, page);
  const { hasMore, nextCursor } = readMeta(reader, page['meta']);
  const summary = objectAt(reader, page['summary'], 'summary');
  noteUnknown(reader, summary, 'summary.');
  const totalCost = totalAt(reader, summary['totalCost'], 'summary.totalCost');
  // Some JSON encoders write an empty list as null or omit it; the totals prove that it is empty.
  const data = page['data'] === null || page['data'] === undefined ? [] : arrayAt(reader, page['data'], 'data');
  const series = scanned === undefined ? openSeriesReader(reader, data.length) : alreadyRead(scanned);
  const entries = data.map((item, index) => {
    const at = `data[${index}]`;
    const entry = objectAt(reader, item, at);
    const decoded = readEntry(reader, entry, at);
    series.read(entry['timeseries'], index, at);
    return decoded;
  });
  return {
    hasMore,
    nextCursor,
    totalCost,
    costDecimals: entries.reduce((most, { cost }) => Math.max(most, decimalsOf(cost)), decimalsOf(totalCost)),
    usageDecimals: entries.reduce((most, { usage }) => Math.max(most, decimalsOf(usage)), 0),
    entries,
    points: series.points(),
    unknownFields: [...unknownFields],
  };
}

/** What the readers of a page's parts share: its expectations, and the unknown fields found so far. */
interface PageReader extends Expected {
  readonly unknownFields: Set<string>;
}

function refuse({ about }: Expected, place: string, found: unknown, wanted: string): never {
  const isText = typeof found !== 'number' && found !== undefined;
  const shown = found === undefined ? 'nothing' : isText ? excerpt(jsonOf(found), 120) : String(found);
  throw new RefusedAnswerError(`${about}: ${place}: found ${shown}, expected ${wanted}`);
}

function objectAt(reader: PageReader, value: unknown, place: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(reader, place, value, 'an object');
  return value as Json;
}

function arrayAt(reader: PageReader, value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(reader, place, value, 'an array');
}

function totalAt(reader: PageReader, value: unknown, place: string): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) refuse(reader, place, value, 'a finite number');
  if (Math.abs(value) >= 1e20) refuse(reader, place, value, 'a total below 1e20');
  return plainDecimal(value);
}

function dimensionAt(reader: PageReader, value: unknown, place: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') refuse(reader, place, value, 'a string');
  // UTF-8 cannot carry a lone surrogate; it is stored as U+FFFD.
  return value.toWellFormed();
}

function noteUnknown(reader: PageReader, value: Json, path: keyof typeof knownFields): void {
  const { unknownFields } = reader;
  const { currency } = value;
  // All totals agree in another currency too, so nothing else would notice it.
  if (typeof currency === 'string' && !/^usd$/i.test(currency)) refuse(reader, `${path}currency`, currency, 'USD');
  for (const name in value) {
    if (unknownFields.size >= answerLimits.maxUnknownNames) return;
    if (!knownFields[path].has(name)) unknownFields.add(`${path}${name}`.slice(0, answerLimits.maxUnknownLength));
  }
}

/** Refuses a page that answers another window or resolution. */
function checkEcho(reader: PageReader, page: Json): void {
  const { window, resolution } = reader;
  for (const [name, instant] of [
    ['startTime', window.start],
    ['endTime', window.end],
  ] as const) {
    const echoed = page[name];
    if (typeof echoed !== 'string' || parseRfc3339(echoed) !== instant) {
      refuse(reader, name, echoed, formatInstant(instant));
    }
  }
  if (page['resolution'] !== resolution) refuse(reader, 'resolution', page['resolution'], `"${resolution}"`);
}

function readMeta(reader: PageReader, value: unknown): { hasMore: boolean; nextCursor: string | undefined } {
  const meta = objectAt(reader, value, 'meta');
  noteUnknown(reader, meta, 'meta.');
  const { hasMore, nextCursor } = meta;
  if (typeof hasMore !== 'boolean') refuse(reader, 'meta.hasMore', hasMore, 'true or false');
  if (nextCursor !== undefined && nextCursor !== null && typeof nextCursor !== 'string') {
    refuse(reader, 'meta.nextCursor', nextCursor, 'a string');
  }
  return { hasMore, nextCursor: nextCursor ? nextCursor : undefined };
}

/** A group of the page, without its series. */
function readEntry(reader: PageReader, entry: Json, at: string): PageEntry {
  noteUnknown(reader, entry, 'data[].');
  const group = objectAt(reader, entry['summary'], `${at}.summary`);
  noteUnknown(reader, group, 'data[].summary.');
  const cost = totalAt(reader, group['cost'], `${at}.summary.cost`);
  const usage = totalAt(reader, group['usage'], `${at}.summary.usage`);
  return {
    workspace: dimensionAt(reader, entry['workspace'], `${at}.workspace`),
    resourceType: dimensionAt(reader, entry['resourceType'], `${at}.resourceType`),
    resourceName: dimensionAt(reader, entry['resourceName'], `${at}.resourceName`),
    resourceUuid: dimensionAt(reader, entry['resourceUuid'], `${at}.resourceUuid`),
    billingDimension: dimensionAt(reader, entry['billingDimension'], `${at}.billingDimension`),
    cost,
    usage,
  };
}

/** Reads the series of a page's entries into columns of points. */
interface SeriesReader {
  read(series: unknown, entry: number, at: string): void;
  points(): PagePoints;
}

/** For points that were scanned before. */
function alreadyRead(points: PagePoints): SeriesReader {
  return { read: () => undefined, points: () => points };
}

/** Built only when a page is refused: a text for each point would cost more than the point. */
function placeOf(at: string, position: number): string {
  return `${at}.timeseries[${position}]`;
}

function openSeriesReader(reader: PageReader, seriesCount: number): SeriesReader {
  const { window, resolution, isCompared = resolution !== 'hourly' } = reader;
  const buckets = bucketsOf(window, resolution);
  const bucketTexts = buckets.map(({ start }) => formatInstant(start));
  const bucketName = bucketNames[resolution];
  const columns = pointColumns(seriesCount * buckets.length);
  const large: Point[] = [];

  /**
   * The position of the bucket that a timestamp names, -1 if none; the first may be named by its whole month or day.
   */
  function bucketStarting(timestamp: unknown): number {
    const instant = typeof timestamp === 'string' ? parseRfc3339(timestamp) : undefined;
    if (instant === undefined) return -1;
    if (instant === floorBucket(window.start, resolution)) return 0;
    return buckets.findIndex(({ start }) => start === instant);
  }

  /** Adds amounts that a column refused: in parts, if they are only too large for it. */
  function addLarge(point: Json, entry: number, bucket: number, at: string, position: number): void {
    const { cost, usage } = point;
    const parts = isCompared ? partsOf(cost, usage) : undefined;
    if (parts === undefined) {
      const { field, wanted } = columns.refused(cost);
      refuse(reader, `${placeOf(at, position)}.${field}`, point[field], wanted);
    }
    for (const part of parts) large.push({ entry, bucket, ...part });
  }

  return {
    read(value, entry, at) {
      const series = arrayAt(reader, value, `${at}.timeseries`);
      if (series.length !== buckets.length) {
        const wanted = `${buckets.length}, one for each ${bucketName} of the window`;
        refuse(reader, `${at}.timeseries`, `${series.length} buckets`, wanted);
      }
      const seen = new Uint8Array(buckets.length);
      for (let position = 0; position < buckets.length; position += 1) {
        const point = series[position] as Json;
        if (typeof point !== 'object' || point === null) refuse(reader, placeOf(at, position), point, 'an object');
        if (position === 0) noteUnknown(reader, point, 'data[].timeseries[].');
        const timestamp = point['timestamp'];
        // In the usual form and order, the text alone identifies the bucket.
        const bucket = timestamp === bucketTexts[position] ? position : bucketStarting(timestamp);
        if (bucket < 0) {
          const wanted = `the start of one of the ${buckets.length} ${bucketName}s from ${bucketTexts[0]} on`;
          refuse(reader, `${placeOf(at, position)}.timestamp`, timestamp, wanted);
        }
        if (seen[bucket] === 1)
          refuse(reader, `${placeOf(at, position)}.timestamp`, timestamp, `each ${bucketName} once`);
        seen[bucket] = 1;
        if (!columns.add(entry, bucket, point['cost'], point['usage'])) addLarge(point, entry, bucket, at, position);
      }
    },
    points: () => withLarge(columns.points(), large),
  };
}

/**
 * A value as JSON for a message; a large array or object by its kind, because its text could be longer than the page.
 */
function jsonOf(value: unknown): string {
  let left = 100;
  try {
    return (
      JSON.stringify(value, (_, part: unknown) => {
        left -= 1;
        if (left < 0) throw new RangeError('too large to be shown');
        return part;
      }) ?? ''
    );
  } catch {
    return Array.isArray(value) ? `an array of ${value.length}` : 'a large object';
  }
}

/** Largest scaled value that `value × 10^scale`, computed in doubles, is sure to round to the right integer. */
const exactProduct = 1e15;

/** A column of scaled integers that is filled by position from JSON numbers. */
function amountColumn(
  capacity: number,
  scale: number,
): {
  values: BigInt64Array;
  /** Undefined if the value is refused; otherwise whether it differs from zero. */
  set(position: number, value: unknown): boolean | undefined;
  wanted: string;
} {
  const values = new BigInt64Array(capacity);
  const halves = new Int32Array(values.buffer);
  const factor = 10 ** scale;
  const limit = 10 ** (18 - scale);
  return {
    values,
    wanted: `a finite number below ${limit} with at most ${scale} stored decimals`,
    set(position, value) {
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      if (value === 0) {
        halves[2 * position] = 0;
        halves[2 * position + 1] = 0;
        return false;
      }
      const product = value * factor;
      if (Math.abs(product) < exactProduct) {
        // Value and product are each off by at most 2^-53 of themselves: less than a quarter at 10^15, so rounding
        // finds the written decimal. Writing two 32-bit halves is ten times faster than a BigInt.
        const scaled = Math.round(product);
        const high = Math.floor(scaled / 4_294_967_296);
        halves[2 * position] = scaled - high * 4_294_967_296;
        halves[2 * position + 1] = high;
        return scaled !== 0;
      }
      const scaled = scaledInteger(plainDecimal(value), scale);
      if (scaled >= 10n ** 18n || scaled <= -(10n ** 18n)) return undefined;
      values[position] = scaled;
      return scaled !== 0n;
    },
  };
}

/** A part of a bucket, or all of it: scaled integers. */
interface Point {
  readonly entry: number;
  readonly bucket: number;
  readonly cost: bigint;
  readonly usage: bigint;
}

/** The largest number of 18 digits: the limit of a column of points. */
const largestAmount = 10n ** 18n - 1n;
/** Parts of one bucket: enough for 10^9 USD. */
const maxParts = 1000;

/**
 * A sum of 10^6 USD or 10^12 units and more, in parts that fit a column of points; every reader of points adds them up.
 * Undefined if an amount is not a finite number, or too large for all parts.
 */
function partsOf(cost: unknown, usage: unknown): Omit<Point, 'entry' | 'bucket'>[] | undefined {
  const costs = amountsIn(cost, costScale);
  const usages = amountsIn(usage, usageScale);
  if (costs === undefined || usages === undefined) return undefined;
  const count = Math.max(costs.length, usages.length);
  return Array.from({ length: count }, (_, part) => ({ cost: costs[part] ?? 0n, usage: usages[part] ?? 0n }));
}

function amountsIn(value: unknown, scale: number): bigint[] | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const parts: bigint[] = [];
  let left = scaledInteger(plainDecimal(value), scale);
  while (left !== 0n && parts.length <= maxParts) {
    const part = left > largestAmount ? largestAmount : left < -largestAmount ? -largestAmount : left;
    parts.push(part);
    left -= part;
  }
  return left === 0n ? parts : undefined;
}

/** The points of a page together with those of its large buckets. */
function withLarge(points: PagePoints, large: readonly Point[]): PagePoints {
  if (large.length === 0) return points;
  const { count } = points;
  return {
    count: count + large.length,
    entry: Int32Array.from([...points.entry.subarray(0, count), ...large.map(({ entry }) => entry)]),
    bucket: Int32Array.from([...points.bucket.subarray(0, count), ...large.map(({ bucket }) => bucket)]),
    cost: BigInt64Array.from([...points.cost.subarray(0, count), ...large.map(({ cost }) => cost)]),
    usage: BigInt64Array.from([...points.usage.subarray(0, count), ...large.map(({ usage }) => usage)]),
  };
}

/** A decimal text times 10^scale as an integer; further decimals are rounded half away from zero. */
export function scaledInteger(text: string, scale: number): bigint {
  const negative = text.startsWith('-');
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'));
  const rounded = (fraction[scale] ?? '0') >= '5' ? kept + 1n : kept;
  return negative ? -rounded : rounded;
}

function decimalsOf(text: string): number {
  const point = text.indexOf('.');
  return point < 0 ? 0 : text.length - point - 1;
}
