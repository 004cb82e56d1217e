import type { Instant } from '../time.ts';
import { formatInstant } from '../time.ts';

/** A page's body with its points taken out, for a decoder that takes them from here. */
export interface ScannedBody {
  /** The body as JSON in which the series of entry i is the number i. */
  readonly rest: Buffer;
  /** How many series were taken out, in order. */
  readonly series: number;
}

/** Takes the numbers of one bucket of one series, in the order of both; false where one is not to be taken. */
export type TakePoint = (series: number, bucket: number, cost: number, usage: number) => boolean;

const marker = Buffer.from('"timeseries":[');
const firstPoint =
  /^\{"(timestamp|cost|usage)":("[^"]*"|[-+.\deE]+),"(timestamp|cost|usage)":("[^"]*"|[-+.\deE]+),"(timestamp|cost|usage)":("[^"]*"|[-+.\deE]+)\}/;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** Powers of ten that a double holds exactly. */
const powersOfTen = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const [comma, openBrace, closeBracket, minus, point, zero, nine] = [0x2c, 0x7b, 0x5d, 0x2d, 0x2e, 0x30, 0x39];

/**
 * Reads the points of a page from its bytes, where they are written as platforms write them: no white space, every
 * bucket in order, its timestamp in the usual form, the same three fields in the same order. That is a page's bulk, and
 * this is many times as fast as making an object of every point. Undefined where anything at all is written otherwise:
 * then the whole page is to be read the plain way, which also knows what to say of it.
 *
 * Numbers are those that JSON.parse would give. A key `"timeseries":` cannot stand within a text of JSON, whose quotes
 * are escaped; one that stands elsewhere than in an entry shows in the rest.
 */
export function scanPoints(bytes: Buffer, starts: readonly Instant[], take: TakePoint): ScannedBody | undefined {
  let at = bytes.indexOf(marker);
  if (at < 0) return undefined;
  const shape = shapeOf(bytes.toString('latin1', at + marker.length, at + marker.length + 300), starts);
  if (shape === undefined) return undefined;
  const { text, ends, costFirst } = shape;
  const pieces: Buffer[] = [];
  const buckets = starts.length;
  let position = 0; // where the bytes are read
  let series = 0;
  let number = 0; // the number read last

  /** Reads a number at the position; false where there is none. */
  function readNumber(): boolean {
    const begin = position;
    let isNegative = false;
    let byte = bytes[position] ?? 0;
    if (byte === minus) {
      isNegative = true;
      position += 1;
      byte = bytes[position] ?? 0;
    }
    const digits = position;
    let mantissa = 0;
    let decimals = 0;
    while (byte >= zero && byte <= nine) {
      mantissa = mantissa * 10 + (byte - zero);
      position += 1;
      byte = bytes[position] ?? 0;
    }
    const whole = position - digits;
    if (whole === 0 || (whole > 1 && bytes[digits] === zero)) return false;
    if (byte === point) {
      position += 1;
      const fraction = position;
      byte = bytes[position] ?? 0;
      while (byte >= zero && byte <= nine) {
        mantissa = mantissa * 10 + (byte - zero);
        position += 1;
        byte = bytes[position] ?? 0;
      }
      decimals = position - fraction;
      if (decimals === 0) return false;
    }
    const power = powersOfTen[decimals];
    if (power !== undefined && mantissa < Number.MAX_SAFE_INTEGER && (byte | 0x20) !== 0x65) {
      // Both are exact, so that their quotient is rounded once: the number that the text means.
      number = isNegative ? -mantissa / power : mantissa / power;
      return true;
    }
    while ((byte >= zero && byte <= nine) || (byte | 0x20) === 0x65 || byte === 0x2b || byte === minus) {
      position += 1;
      byte = bytes[position] ?? 0;
    }
    const written = bytes.toString('latin1', begin, position);
    number = Number(written);
    return jsonNumber.test(written);
  }

  let copied = 0;
  let expected = 0; // where the expected text is compared
  let compared = 0; // how much of `ends` is behind
  function readText(): boolean {
    const end = ends[compared++] ?? 0;
    while (expected < end) {
      if (bytes[position] !== text[expected]) return false;
      position += 1;
      expected += 1;
    }
    return true;
  }

  while (at >= 0) {
    const before = bytes[at - 1];
    if (before !== comma && before !== openBrace) return undefined;
    position = at + marker.length;
    pieces.push(bytes.subarray(copied, position - 1), Buffer.from(String(series)));
    expected = 0;
    compared = 0;
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      if (!readText() || !readNumber()) return undefined;
      const first = number;
      if (!readText() || !readNumber()) return undefined;
      const second = number;
      if (!readText()) return undefined;
      const isTaken = costFirst ? take(series, bucket, first, second) : take(series, bucket, second, first);
      if (!isTaken) return undefined;
    }
    if (bytes[position] !== closeBracket) return undefined;
    copied = position + 1;
    series += 1;
    at = bytes.indexOf(marker, copied);
  }
  pieces.push(bytes.subarray(copied));
  return { rest: Buffer.concat(pieces), series };
}

/** What stands between the numbers of a series whose first point begins the text: all of it, and where each piece ends. */
function shapeOf(
  begin: string,
  starts: readonly Instant[],
): { readonly text: Uint8Array; readonly ends: Int32Array; readonly costFirst: boolean } | undefined {
  const found = firstPoint.exec(begin);
  if (found === null) return undefined;
  const fields = [found[1] ?? '', found[3] ?? '', found[5] ?? ''];
  if (new Set(fields).size < fields.length) return undefined;
  const pieces = starts.flatMap((start, bucket) => {
    const written = fields
      .map((field) => `"${field}":${field === 'timestamp' ? `"${formatInstant(start)}"` : '\u0000'}`)
      .join(',');
    return `${bucket === 0 ? '' : ','}{${written}}`.split('\u0000');
  });
  const ends = new Int32Array(pieces.length);
  let end = 0;
  for (const [index, piece] of pieces.entries()) {
    end += piece.length;
    ends[index] = end;
  }
  return {
    text: Buffer.from(pieces.join(''), 'latin1'),
    ends,
    costFirst: fields.indexOf('cost') < fields.indexOf('usage'),
  };
}
