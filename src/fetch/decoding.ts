import { Worker } from 'node:worker_threads';
import { type RawBody, unpackingOf } from '../platform/index.ts';
import type { DecodedPage, Expected } from './decode.ts';

/** A page for the other thread: its gzipped bytes, how to unpack them, and what they must be an answer to. */
export interface DecodingRequest {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly unpacking: { readonly maxOutputLength: number; readonly chunkSize: number };
  readonly expected: Expected;
}

/** What the other thread made of it; no page where it was refused. */
export interface DecodingAnswer {
  readonly number: number;
  readonly page: DecodedPage | undefined;
}

type Decoder = (body: RawBody, expected: Expected) => Promise<DecodedPage | undefined>;

/** Smaller bodies are decoded before another thread has begun. */
const smallBody = 32 * 1024;

/** Only compiled code can begin a thread of its own kind. */
const isCompiled = import.meta.url.endsWith('.js');

let decoder: Decoder | undefined;

/** Begins the other thread now, for who knows that large pages will come: the first need not wait for it then. */
export function prepareDecoding(): void {
  if (isCompiled) decoder ??= beginDecoder();
}

/**
 * Unpacks and decodes a large gzipped page in another thread, so that this one is free for SQL and HTTP meanwhile
 * (measured: a tenth less time for a rebuild). Undefined for a small or plain one; where the page is refused, because
 * who decodes it here is told why; and where the thread has ended, with which only speed is lost.
 */
export async function decodeElsewhere(body: RawBody, expected: Expected): Promise<DecodedPage | undefined> {
  if (!isCompiled || !body.gzipped || body.bytes.length < smallBody) return undefined;
  decoder ??= beginDecoder();
  return decoder(body, expected);
}

/** Begins the thread. It ends with the process, and does not keep it alive while it has nothing to do. */
function beginDecoder(): Decoder {
  const worker = new Worker(new URL('./decode-worker.js', import.meta.url), {
    execArgv: [],
    // A page whose points are scanned takes a tenth of it. Beyond it the thread ends, and this one decodes the page.
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  });
  const waiting = new Map<number, (page: DecodedPage | undefined) => void>();
  let isThere = true;
  let last = 0;
  worker.unref();
  worker.on('message', ({ number, page }: DecodingAnswer) => {
    waiting.get(number)?.(page);
    waiting.delete(number);
    if (waiting.size === 0) worker.unref();
  });
  function end(): void {
    isThere = false;
    for (const settle of waiting.values()) settle(undefined);
    waiting.clear();
  }
  worker.on('error', end); // it has no memory left, say
  worker.on('exit', end);
  return (body, expected) => {
    if (!isThere) return Promise.resolve(undefined);
    last += 1;
    const number = last;
    return new Promise((resolve) => {
      waiting.set(number, resolve);
      worker.ref();
      const request: DecodingRequest = {
        number,
        bytes: body.bytes,
        unpacking: unpackingOf(body),
        expected,
      };
      worker.postMessage(request);
    });
  };
}
