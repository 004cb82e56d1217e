import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openS3Store } from '../../src/storage/s3-store.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import { hashOf } from '../../src/storage/verify-copy.ts';
import { newProject, runCli } from '../support/project.ts';
import { credentials } from '../support/s3-server.ts';

let answer: (response: ServerResponse, request: number) => void;
let answerTo: ((path: string, response: ServerResponse) => void) | undefined;
let requests = 0;
const server = createServer((request, response) => {
  request.resume();
  requests += 1;
  if (answerTo === undefined) answer(response, requests);
  else answerTo(request.url ?? '', response);
});
let store: ObjectStore;
let endpoint: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(process.env, credentials);
  const none = { region: undefined, serverSideEncryption: undefined, kmsKeyId: undefined };
  store = await openS3Store({
    destination: { bucket: 'books', prefix: 'p', url: 's3://books/p' },
    settings: { ...none, endpoint, timeoutMs: 100, pathStyle: true },
    signal: new AbortController().signal,
    mostListed: 3000,
    keepSecret: () => undefined,
  });
});
afterAll(() => {
  store.close();
  server.closeAllConnections();
  server.close();
});

/** Sends for as long as somebody reads. */
function endlessly(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  function more(): void {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', more);
  more();
}

function slowly(response: ServerResponse): void {
  const clock = setInterval(() => response.write('x'), 20);
  response.on('close', () => clearInterval(clock));
}

function listing(keys: readonly string[], next: string): string {
  const objects = keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');
  return `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>${objects}</ListBucketResult>`;
}

const many = Array.from({ length: 1000 }, (_, number) => `p/${number}`);

async function listed(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list('')) keys.push(key);
  return keys;
}

test.each<[string, typeof answer, () => Promise<unknown>, RegExp]>([
  ['a listing without end', (response) => endlessly(response), listed, /more than 16777216 bytes|did not end in time/],
  [
    'an error without end',
    (response) => endlessly(response.writeHead(500)),
    () => store.readText('a'),
    /more than 16777216 bytes|did not end in time/,
  ],
  [
    'an object that drips',
    (response) => slowly(response.writeHead(200)),
    () => store.readText('a'),
    /did not (end|answer) in time/,
  ],
  ['a listing that drips', (response) => slowly(response.writeHead(200)), listed, /did not (end|answer) in time/],
  [
    'an object that is compared and drips',
    (response) => slowly(response.writeHead(200)),
    () => hashOf(store, 'a', 1e9),
    /came too slowly|did not answer in time/,
  ],
  [
    'a listing of ever more objects',
    (response, request) => void response.end(listing(many, String(request))),
    listed,
    /says without end that there is more/,
  ],
  [
    'pages that go round',
    (response) => void response.end(listing(['p/a'], 'same')),
    listed,
    /says without end that there is more/,
  ],
  [
    'pages that have nothing',
    (response, request) => void response.end(listing([], String(request))),
    listed,
    /says without end that there is more/,
  ],
])('%s of a store ends', async (_, given, ask, expected) => {
  answer = given;
  requests = 0;
  await expect(ask()).rejects.toThrow(expected);
  expect(requests).toBeLessThan(1100);
});

test('a text of a million values is not parsed: it would take a gigabyte', async () => {
  answer = (response) => void response.end(`[${'[],'.repeat(1_000_001)}0]`);
  await expect(store.readText('a')).rejects.toThrow('larger than a manifest can be');
});

test('objects that are not below the prefix are none of the listing', async () => {
  answer = (response) => void response.end(listing(['_manifest', 'other/x', 'p/a'], 'x').replace('>true<', '>false<'));
  expect(await listed()).toEqual(['a']);
});

test('names of objects come to no terminal as they are', async () => {
  const page = listing(['p/a&#27;]0;evil&#7;\u202e/_manifest'], 'x').replace('>true<', '>false<');
  answer = (response, request) => void response.end(request === 1 ? page : '{}');
  requests = 0;
  const environment = { ...credentials, COSTBOOK_STORAGE_ENDPOINT: endpoint };
  const { exitCode, stdout } = await runCli(['verify', 's3://books/p', '--dir', await newProject()], environment);
  expect(exitCode).toBe(4);
  expect(stdout).toContain('DIFFERS  s3://books/p/a');
  for (const sign of ['\u001b', '\u0007', '\u202e']) expect(stdout).not.toContain(sign);
});

test('an export of the project whose copy somebody removed is named', async () => {
  const dir = await newProject();
  for (const folder of ['data/journal', 'exports/summary']) await mkdir(join(dir, folder), { recursive: true });
  const line = { place: 'exports/summary', sha256: '0', asOf: '2026-11-01T00:00:00Z' };
  await writeFile(join(dir, 'data/journal/exports.ndjson'), `${JSON.stringify(line)}\n`);
  await writeFile(join(dir, 'exports/summary/_manifest'), '{}');
  const page = listing(['p/a/_manifest'], 'x').replace('>true<', '>false<');
  answerTo = (path, response) => void response.end(path.includes('list-type') ? page : '{}');
  const environment = { COSTBOOK_STORAGE_ENDPOINT: endpoint, COSTBOOK_EXPORTS_TO: 's3://books/p', ...credentials };
  const { stdout } = await runCli(['verify', 's3://books/p', '--dir', dir, '--json'], environment);
  expect(JSON.parse(stdout)).toMatchObject({ absent: ['summary'], exports: [{ folder: 'a' }] });
});

test('an index of an archive beside exports does not hide them', async () => {
  const texts = new Map([
    ['/books/p/_archive.json', '{"costbook":"archive","through":0}'],
    ['/books/p/a/_manifest', '{}'],
  ]);
  const page = listing(['p/_archive.json', 'p/a/_manifest'], 'x').replace('>true<', '>false<');
  answerTo = (path, response) => {
    const found =
      path.startsWith('/books?') || path.startsWith('/books/?') ? page : texts.get(path.split('?')[0] ?? '');
    response.writeHead(found === undefined ? 404 : 200).end(found ?? '<Error><Code>NoSuchKey</Code></Error>');
  };
  const environment = { ...credentials, COSTBOOK_STORAGE_ENDPOINT: endpoint };
  const { exitCode, stdout } = await runCli(['verify', 's3://books/p', '--dir', await newProject()], environment);
  expect(stdout).toContain('DIFFERS  s3://books/p/a');
  expect(exitCode).toBe(4);
});
