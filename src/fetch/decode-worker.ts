// The worker thread of `decode-elsewhere.ts`: unpacks and decodes pages one after the other.
import { parentPort } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { parseBytes } from '../platform/index.ts';
import { decodeBytes } from './decode.ts';
import type { DecodingAnswer, DecodingRequest } from './decode-elsewhere.ts';

parentPort?.on('message', (request: DecodingRequest) => {
  const answer = decoded(request);
  const { points } = answer.page ?? {};
  const columns = points === undefined ? [] : [points.entry, points.bucket, points.cost, points.usage];
  const moved = columns.map(({ buffer }) => buffer as ArrayBuffer);
  parentPort?.postMessage(answer, moved);
});

function decoded({ number, bytes, unpacking, expected }: DecodingRequest): DecodingAnswer {
  try {
    return { number, page: decodeBytes(gunzipSync(bytes, unpacking), expected, parseBytes) };
  } catch {
    return { number, page: undefined };
  }
}
