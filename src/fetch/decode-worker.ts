// The other thread of `decoding.ts`: unpacks and decodes the pages that it is sent, one after the other.
import { parentPort } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { decodeBytes } from './decode.ts';
import type { DecodingAnswer, DecodingRequest } from './decoding.ts';

parentPort?.on('message', (request: DecodingRequest) => {
  const answer = decoded(request);
  const { points } = answer.page ?? {};
  const columns = points === undefined ? [] : [points.entry, points.bucket, points.cost, points.usage];
  const moved = columns.map(({ buffer }) => buffer as ArrayBuffer);
  parentPort?.postMessage(answer, moved);
});

function decoded({ number, bytes, unpacking, expected }: DecodingRequest): DecodingAnswer {
  try {
    return { number, page: decodeBytes(gunzipSync(bytes, unpacking), expected, parse) };
  } catch {
    return { number, page: undefined };
  }
}

function parse(bytes: Buffer): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}
