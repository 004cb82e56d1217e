import { Worker } from 'node:worker_threads';
import { isCompiled, programs } from '../base/places.ts';
import { type RawBody, unpackingOf } from '../platform/index.ts';
import type { DecodedPage, Expected } from './decode.ts';

/** A page for the worker thread: its gzipped bytes, how to unpack them, and what they must answer. */
export interface DecodingRequest {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly unpacking: { readonly maxOutputLength: number; readonly chunkSize: number };
  readonly expected: Expected;
}

/** The worker's result; no page if it was refused. */
export interface DecodingAnswer {
  readonly number: number;
  readonly page: DecodedPage | undefined;
}

type Decoder = (body: RawBody, expected: Expected) => Promise<DecodedPage | undefined>;

/** Smaller bodies are decoded faster than a worker starts. */
const smallBody = 32 * 1024;

let decoder: Decoder | undefined;

/** Starts the worker thread early, for callers that expect large pages: the first page need not wait for it. */
export function prepareDecoding(): void {
  if (isCompiled) decoder ??= beginDecoder();
}

/**
 * Unpacks and decodes a large gzipped page in a worker thread, so that this thread is free for SQL and HTTP (measured:
 * a rebuild takes 10 % less time). Undefined for a small or plain page; if the page is refused, because decoding it
 * here gives the reason; and if the worker has ended, which only costs speed.
 */
export async function decodeElsewhere(body: RawBody, expected: Expected): Promise<DecodedPage | undefined> {
  if (!isCompiled || !body.gzipped || body.bytes.length < smallBody) return undefined;
  decoder ??= beginDecoder();
  return decoder(body, expected);
}

/** Starts the worker. It ends with the process, and does not keep an idle process alive. */
function beginDecoder(): Decoder {
  const worker = new Worker(programs.decodeWorker, {
    execArgv: [],
    // A scanned page takes a tenth of this. Beyond it the worker ends, and this thread decodes the page.
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
  worker.on('error', end); // for example, out of memory
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
