import { formatInstant, type Instant } from '../time/time.ts';

/** A page's body without its points, which were scanned separately. */
export interface ScannedBody {
  /** The body as JSON in which the number i replaces the series of entry i. */
  readonly rest: Buffer;
  /** How many series were removed, in order. */
  readonly series: number;
}

/** Receives the numbers of one bucket of one series, in order; returns false to refuse them. */
export type TakePoint = (series: number, bucket: number, cost: number, usage: number) => boolean;

const marker = Buffer.from('"timeseries":[');
const firstPoint =
  /^\{"(timestamp|cost|usage)":("[^"]*"|[-+.\deE]+),"(timestamp|cost|usage)":("[^"]*"|[-+.\deE]+),"(timestamp|cost|usage)":("[^"]*"|[-+.\deE]+)\}/;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** Powers of ten that a double holds exactly. */
const powersOfTen = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const [comma, openBrace, closeBracket, minus, point, zero, nine] = [0x2c, 0x7b, 0x5d, 0x2d, 0x2e, 0x30, 0x39];

/**
 * Reads the points of a page from its bytes, if they are written as platforms write them: no white space, every bucket
 * in order, timestamps in the usual form, the same three fields in the same order. Points are most of a page, and this
 * is many times faster than creating an object for each. Undefined if anything is written otherwise: then decode the
 * whole page normally, which also gives proper errors.
 * \n Numbers equal those of JSON.parse. A key `"timeseries":` cannot occur inside a JSON text, whose quotes are
 * escaped; one elsewhere than in an entry shows up in the rest.
 */
export function scanPoints(bytes: Buffer, starts: readonly Instant[], take: TakePoint): ScannedBody | undefined {
  let at = bytes.indexOf(marker);
  if (at < 0) return undefined;
  const shape = shapeOf(bytes.toString('latin1', at + marker.length, at + marker.length + 300), starts);
  if (shape === undefined) return undefined;
  const pieces: Buffer[] = [];
  let copied = 0;
  let series = 0;
  while (at >= 0) {
    const before = bytes[at - 1];
    if (before !== comma && before !== openBrace) return undefined;
    const begin = at + marker.length;
    const end = scanSeries(bytes, begin, shape, series, take);
    if (bytes[end] !== closeBracket) return undefined;
    pieces.push(bytes.subarray(copied, begin - 1), Buffer.from(String(series)));
    copied = end + 1;
    series += 1;
    at = bytes.indexOf(marker, copied);
  }
  pieces.push(bytes.subarray(copied));
  return { rest: Buffer.concat(pieces), series };
}

/**
 * Reads the points of one series and returns where they end; -1 if one is written otherwise. One loop over local
 * variables: most bytes pass through here.
 */
function scanSeries(bytes: Buffer, begin: number, { text, ends, costFirst }: Shape, series: number, take: TakePoint) {
  const found = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const wanted = new DataView(text.buffer, text.byteOffset, text.length);
  const last = ends.length - 1;
  let position = begin;
  let expected = 0;
  let first = 0;
  for (let piece = 0; ; piece += 1) {
    // The text before the next number, eight bytes at once as doubles: for ASCII text they are equal only if the bytes
    // are.
    const end = ends[piece] ?? 0;
    if (position + end - expected > bytes.length) return -1;
    for (; expected + 8 <= end; expected += 8, position += 8) {
      if (found.getFloat64(position) !== wanted.getFloat64(expected)) return -1;
    }
    for (; expected < end; expected += 1, position += 1) {
      if (bytes[position] !== text[expected]) return -1;
    }
    if (piece === last) return position;

    let value: number;
    const start = position;
    let byte = bytes[position] ?? 0;
    const isNegative = byte === minus;
    if (isNegative) byte = bytes[++position] ?? 0;
    const digits = position;
    let mantissa = 0;
    while (byte >= zero && byte <= nine) {
      mantissa = mantissa * 10 + (byte - zero);
      byte = bytes[++position] ?? 0;
    }
    const whole = position - digits;
    if (whole === 0 || (whole > 1 && bytes[digits] === zero)) return -1;
    let decimals = 0;
    if (byte === point) {
      byte = bytes[++position] ?? 0;
      const fraction = position;
      while (byte >= zero && byte <= nine) {
        mantissa = mantissa * 10 + (byte - zero);
        byte = bytes[++position] ?? 0;
      }
      decimals = position - fraction;
      if (decimals === 0) return -1;
    }
    if (mantissa < Number.MAX_SAFE_INTEGER && decimals < powersOfTen.length && (byte | 0x20) !== 0x65) {
      // Both are exact, so their quotient is rounded once: it is the number that the text means.
      value = mantissa / (powersOfTen[decimals] ?? 1);
      if (isNegative) value = -value;
    } else {
      while ((byte >= zero && byte <= nine) || (byte | 0x20) === 0x65 || byte === 0x2b || byte === minus) {
        byte = bytes[++position] ?? 0;
      }
      const written = bytes.toString('latin1', start, position);
      if (!jsonNumber.test(written)) return -1;
      value = Number(written);
    }

    if ((piece & 1) === 0) first = value;
    else if (!(costFirst ? take(series, piece >> 1, first, value) : take(series, piece >> 1, value, first))) return -1;
  }
}

/** The text around the numbers of a series, where each part of it ends, and which number is the cost. */
interface Shape {
  readonly text: Uint8Array;
  readonly ends: Int32Array;
  readonly costFirst: boolean;
}

/** The shape of a series whose first point starts the text. */
function shapeOf(begin: string, starts: readonly Instant[]): Shape | undefined {
  const found = firstPoint.exec(begin);
  if (found === null) return undefined;
  const fields = [found[1] ?? '', found[3] ?? '', found[5] ?? ''];
  if (new Set(fields).size < fields.length) return undefined;
  const points = starts.map((start) => {
    const written = fields.map((field) => `"${field}":${field === 'timestamp' ? `"${formatInstant(start)}"` : '#'}`);
    return `{${written.join(',')}}`;
  });
  const pieces = points.join(',').split('#');
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
