import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { HttpResponse } from '../base/effects.ts';
import { excerpt, messageOf, PlatformError } from '../base/errors.ts';
import { jsonExcess } from '../text/bounded-json.ts';
import type { Instant } from '../time/time.ts';
import { answerLimits } from './interface/limits.ts';

const gunzipAsync = promisify(gunzip);

/** The body of a successful answer, as it came. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly gzipped: boolean;
  /** The longest allowed body when unpacked; that of a metrics page by default. */
  readonly maxBodyMib?: number;
  /** When the platform made the answer, by its own clock; undefined if it does not say. */
  readonly answeredAt?: Instant | undefined;
}

/** The JSON value in a body, unpacked if gzipped. Throws as `unpackBody` and `parseBytes` do. */
export async function parseBody(body: RawBody): Promise<unknown> {
  return parseBytes(await unpackBody(body));
}

/**
 * The bytes of a body, unpacked if gzipped. Throws a retryable PlatformError for a truncated body: another attempt may
 * deliver all of it. A body that unpacks to more than any page is refused for good: the next attempt would get the
 * same.
 */
export async function unpackBody(body: RawBody): Promise<Buffer> {
  const { bytes, gzipped, maxBodyMib = answerLimits.metricsBodyMib } = body;
  if (!gzipped) return bytes;
  try {
    return await gunzipAsync(bytes, unpackingOf(body));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw cutShort(bytes.length, cause);
    throw new PlatformError(
      `a gzipped body of ${bytes.length} bytes that unpacks to more than ${maxBodyMib} MiB, far more than a page`,
      { code: 'too_large', cause },
    );
  }
}

/**
 * How to unpack a gzipped body: its last bytes state its size, so it is unpacked in one piece. The size may be wrong.
 */
export function unpackingOf({ bytes, maxBodyMib = answerLimits.metricsBodyMib }: RawBody): {
  maxOutputLength: number;
  chunkSize: number;
} {
  const said = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return {
    maxOutputLength: maxBodyMib * 1024 * 1024,
    chunkSize: Math.min(Math.max(said + 1, 16_384), 4 * 1024 * 1024),
  };
}

/**
 * The JSON value in a body's bytes. Throws a retryable PlatformError if they are not JSON, and a final one if they hold
 * more than any answer does.
 */
export function parseBytes(bytes: Buffer): unknown {
  const excess = jsonExcess(bytes, answerLimits);
  if (excess !== undefined) {
    throw new PlatformError(`a body of ${bytes.length} bytes of ${excess}, far more than a page`, {
      code: 'too_large',
    });
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw cutShort(bytes.length, cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(text, cause);
  }
}

function notJson(text: string, cause: unknown): PlatformError {
  const isPage = /^\s*<(!doctype|html|\?xml|head|body)\b/i.test(text);
  const title = /<title>([^<]{1,80})/i.exec(text)?.[1]?.trim();
  const start = JSON.stringify(excerpt(text, 60));
  const words = isPage
    ? `a web page in place of JSON${title === undefined ? '' : `, titled ${JSON.stringify(title)}`}`
    : `a body of ${text.length} characters that is not JSON${text === '' ? '' : `, starting with ${start}`}`;
  return new PlatformError(words, { code: isPage ? 'web_page' : 'body', retryable: true, cause });
}

function cutShort(length: number, cause: unknown): PlatformError {
  return new PlatformError(
    `a body that cannot be unpacked (${messageOf(cause)}; ${length} bytes arrived): perhaps truncated in transit`,
    { code: 'body', retryable: true, cause },
  );
}

/** The first value of a header; its name in lower case. */
export function headerOf(response: HttpResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether a body is gzipped. Throws PlatformError for another encoding. */
export function isGzipped(response: HttpResponse): boolean {
  const encoding = headerOf(response, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity' || encoding === '') return false;
  throw new PlatformError(`a body with content-encoding ${excerpt(encoding, 60)}, though only gzip was offered`);
}
