import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mirrorExport } from '../../src/storage/mirror.ts';
import { openS3Store } from '../../src/storage/s3-store.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import { type ExportToMirror, type LeaseTimes } from '../../src/storage/index.ts';
import { filesOfManifest } from '../../src/reports/export-content.ts';
import { credentials, s3Program, type S3Server, startFaultyStore, startS3 } from '../support/s3-server.ts';

const program = s3Program();
if (program === undefined) console.log('object stores are not tested: there is no Go to install an S3 server with');

Object.assign(process.env, credentials);
let server: S3Server;
beforeAll(async () => {
  if (program !== undefined) server = await startS3(program);
});
afterAll(async () => server?.kill());

const times: LeaseTimes = { deadAfterMs: 2000, patienceMs: 500 };
let nextPrefix = 0;

interface Opening {
  readonly endpoint?: string;
  readonly prefix?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

function open({ endpoint = server.url, prefix = `p${(nextPrefix += 1)}`, signal, timeoutMs = 5000 }: Opening = {}): Promise<ObjectStore> {
  return openS3Store({
    destination: { bucket: 'books', prefix, url: `s3://books/${prefix}` },
    settings: {
      ...{ endpoint, timeoutMs, region: undefined, pathStyle: true, serverSideEncryption: undefined, kmsKeyId: undefined },
    },
    signal: signal ?? new AbortController().signal,
    keepSecret: () => undefined,
  });
}

/** An export of files with these contents, in a folder of its own. */
async function exportOf(contents: Readonly<Record<string, string | Buffer>>): Promise<ExportToMirror> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-mirror-'));
  const files = [];
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
    const bytes = Buffer.byteLength(content);
    files.push({ name, bytes, sha256: createHash('sha256').update(content).digest('hex') });
  }
  const manifest = JSON.stringify({ files });
  return {
    folder,
    remote: 'lake',
    content: { manifestName: '_manifest.json', manifest, files },
    filesOf: (text) => filesOfManifest('_manifest.json', text),
  };
}

async function textsIn(store: ObjectStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { key } of store.list('')) found[key] = (await store.readText(key))?.text ?? '';
  return found;
}

const options = { signal: new AbortController().signal, times, tell: () => undefined, progress: () => undefined };

describe.skipIf(program === undefined)('an export in an object store', () => {
  test('has the files and the manifest, and nothing else', async () => {
    const store = await open();
    const one = await exportOf({ 'a.csv': 'one', 'costs/account=ü%2F1/month=2026-10/costs.parquet': 'two' });
    expect(await mirrorExport(store, one, options)).toEqual({ sent: 2, bytes: 6, removed: 0, isUnchanged: false });
    expect(await textsIn(store)).toEqual({
      'lake/_manifest.json': one.content.manifest,
      'lake/a.csv': 'one',
      'lake/costs/account=ü%2F1/month=2026-10/costs.parquet': 'two',
    });
  });
});
void startFaultyStore;
