import type { DuckDBValue } from '@duckdb/node-api';
import { plainDecimal } from '../../money/money.ts';
import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
} from './duckdb.ts';

/** A value in output: JSON without loss. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/**
 * A DuckDB value as JSON: decimals and integers beyond 2^53 as text, other integers as numbers, instants
 * `2026-10-01T00:00:00Z`, dates `2026-10-01`; a double that is not finite (NaN, Infinity) as text.
 */
export function toJsonValue(value: DuckDBValue): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
  }
  const infinity = infinityText(value);
  if (infinity !== undefined) return infinity;
  // DuckDB's own text uses the process' time zone.
  if (value instanceof DuckDBTimestampTZValue) return instantText(new DuckDBTimestampValue(value.micros).toString());
  if (
    value instanceof DuckDBTimestampValue ||
    value instanceof DuckDBTimestampSecondsValue ||
    value instanceof DuckDBTimestampMillisecondsValue ||
    value instanceof DuckDBTimestampNanosecondsValue
  ) {
    return instantText(value.toString());
  }
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(toJsonValue);
  if (value instanceof DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, entry]) => [name, toJsonValue(entry)]));
  }
  if (value instanceof DuckDBMapValue) {
    return value.entries.map((entry) => ({ key: toJsonValue(entry.key), value: toJsonValue(entry.value) }));
  }
  if (value instanceof DuckDBUnionValue) return toJsonValue(value.value);
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
  return String(value); // decimals, dates, times, intervals, UUIDs: their own text is exact
}

/** `infinity` or `-infinity`, which the client's own text shows as a far day; undefined for every other value. */
function infinityText(value: DuckDBValue): string | undefined {
  if (value instanceof DuckDBDateValue) return value.isFinite ? undefined : signedInfinity(value.days);
  if (value instanceof DuckDBTimestampSecondsValue) return value.isFinite ? undefined : signedInfinity(value.seconds);
  if (value instanceof DuckDBTimestampMillisecondsValue)
    return value.isFinite ? undefined : signedInfinity(value.millis);
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.isFinite ? undefined : signedInfinity(value.nanos);
  return undefined;
}

function signedInfinity(value: number | bigint): string {
  return value > 0 ? 'infinity' : '-infinity';
}

/** `2026-10-01 00:00:00` as `2026-10-01T00:00:00Z`. */
function instantText(text: string): string {
  const match = /^([+-]?\d{4,}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(\.\d+)?$/.exec(text);
  if (!match) return text; // infinity, or a year before Christ
  const [, date, clock, fraction = ''] = match;
  return `${date}T${clock}${fraction.replace(/0+$/, '').replace(/\.$/, '')}Z`;
}

/** A value as text for one cell: NULL is undefined, everything else is its exact text, numbers without an exponent. */
export function toCellText(value: DuckDBValue): string | undefined {
  const json = toJsonValue(value);
  if (json === null) return undefined;
  if (typeof json === 'number') return plainDecimal(json);
  return typeof json === 'object' ? JSON.stringify(json) : String(json);
}

/** A value as DuckDB returns it; NULL is null. */
export type SqlCell = DuckDBValue;

/** A decimal as DuckDB returns it, from the number without its point; it has 38 digits. */
export function decimalCell(unscaled: bigint, decimals: number): SqlCell {
  return new DuckDBDecimalValue(unscaled, 38, decimals);
}

/** A decimal without its point: 1.50 with two decimals is 150. Throws if the value is not a decimal. */
export function unscaledDecimal(value: SqlCell): bigint {
  if (value instanceof DuckDBDecimalValue) return value.value;
  throw new Error(`${String(value)} is not a decimal`);
}

/** Days of a date since 1970-01-01. Throws if the value is not a date. */
export function epochDays(value: SqlCell): number {
  if (value instanceof DuckDBDateValue) return value.days;
  throw new Error(`${String(value)} is not a date`);
}

/**
 * Microseconds of a timestamp since 1970-01-01T00:00:00Z. Throws if the value is not a timestamp, or is finer than
 * that.
 */
export function epochMicros(value: SqlCell): bigint {
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) return value.micros;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.millis * 1000n;
  if (value instanceof DuckDBTimestampSecondsValue) return value.seconds * 1_000_000n;
  throw new Error(`${String(value)} is not a timestamp in microseconds`);
}
