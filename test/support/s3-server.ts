import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { filesOfManifest } from '../../src/reports/exports/export-content.ts';
import type { ExportToMirror } from '../../src/storage/index.ts';
import { openS3Store } from '../../src/storage/s3-store.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import { afterFile } from './clean-up.ts';
import { listen } from './listen.ts';

const version = 'v1.8.0';
/** Where the server's program is kept between runs; `COSTBOOK_TEST_TOOLS` names another folder. */
const tools = process.env['COSTBOOK_TEST_TOOLS'] ?? join(homedir(), '.cache', 'costbook-test-tools');

/**
 * The program of an S3 server, versitygw. Installs it with Go if it is not there yet, which takes some minutes. Undefined if
 * there is no Go: the tests of object stores are then skipped.
 */
export function s3Program(): string | undefined {
  const folder = join(tools, `versitygw-${version}`);
  const program = join(folder, 'versitygw');
  if (existsSync(program)) return program;
  const { GOROOT: _, ...env } = process.env;
  const installed = spawnSync('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`], {
    env: { ...env, GOBIN: folder },
    timeout: 900_000,
  });
  return installed.status === 0 ? program : undefined;
}

export const accessKey = 'costbooktest';
export const secretKey = 'a-secret-that-no-output-shows';
/** The environment of a process that uses the server. */
export const credentials = {
  AWS_ACCESS_KEY_ID: accessKey,
  AWS_SECRET_ACCESS_KEY: secretKey,
  AWS_EC2_METADATA_DISABLED: 'true',
} as const;

/** An S3 server of a test. */
export interface S3Server {
  readonly url: string;
  /** The folder with a bucket's objects as files. */
  bucketFolder(bucket: string): string;
  /** Ends the server at once. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

/** Starts a server with the bucket `books` in a folder; by default a new one. */
export async function startS3(program: string, folder?: string): Promise<S3Server> {
  const root = folder ?? (await mkdtemp(join(tmpdir(), 'costbook-s3-')));
  const [buckets, sidecar] = [join(root, 'buckets'), join(root, 'sidecar')];
  await mkdir(join(buckets, 'books'), { recursive: true });
  await mkdir(sidecar, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  async function start(): Promise<void> {
    const args = ['--access', accessKey, '--secret', secretKey, '--port', `127.0.0.1:${port}`, '--quiet'];
    server = spawn(program, [...args, 'posix', '--sidecar', sidecar, buckets], { stdio: 'ignore', cwd: root });
    for (let look = 0; look < 200; look += 1) {
      const isUp = await fetch(url).then(
        () => true,
        () => false,
      );
      if (isUp) return;
      await sleepFor(50);
    }
    throw new Error(`no S3 server answers at ${url}`);
  }
  await start();
  return {
    url,
    start,
    bucketFolder: (bucket) => join(buckets, bucket),
    async kill() {
      const ended = new Promise((resolve) => server?.once('exit', resolve));
      if (server?.exitCode !== null || !server.kill('SIGKILL')) return;
      await ended;
    },
  };
}

export interface Opening {
  readonly endpoint: string;
  readonly prefix: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** A place in the bucket of a server. */
export function openStore({ endpoint, prefix, signal, timeoutMs = 5000 }: Opening): Promise<ObjectStore> {
  return openS3Store({
    destination: { bucket: 'books', prefix, url: `s3://books/${prefix}` },
    settings: {
      ...{ endpoint, timeoutMs, region: undefined, pathStyle: true },
      ...{ serverSideEncryption: undefined, kmsKeyId: undefined },
    },
    signal: signal ?? new AbortController().signal,
    keepSecret: () => undefined,
  });
}

/** An export of files with these contents, in a folder of its own. */
export async function exportOf(contents: Readonly<Record<string, string | Buffer>>): Promise<ExportToMirror> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-mirror-'));
  afterFile(() => rm(folder, { recursive: true }));
  const files = [];
  for (const [name, content] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
    files.push({ name, bytes: Buffer.byteLength(content), sha256: sha256Of(content) });
  }
  return {
    folder,
    remote: 'lake',
    content: { manifestName: '_manifest', manifest: JSON.stringify({ files }), files },
    filesOf: (text) => filesOfManifest('_manifest', text),
  };
}

export function sha256Of(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A request as a test sees it. */
export interface SeenRequest {
  readonly number: number;
  readonly method: string;
  /** Path and query, decoded. */
  readonly path: string;
}

/** What happens to a request; undefined passes it on. */
export type Fault =
  | { readonly status: number; readonly code: string }
  /** Passes it on and closes the connection instead of answering. */
  | 'lose-answer'
  /** Closes the connection in the middle of the request. */
  | 'reset'
  /** Never answers. */
  | 'hang'
  /** Passes it on after this many milliseconds, and its bytes at this pace if one is given. */
  | { readonly afterMs: number; readonly bytesPerSecond?: number }
  /** Passes it on, and says that a refused write was done. */
  | 'ignore-conditions';

export interface FaultyStore {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Decides on each request. */
  script: (request: SeenRequest) => Fault | undefined | Promise<Fault | undefined>;
  close(): Promise<void>;
}

/** A proxy in front of a server that does to each request what a test says. */
export async function startFaultyStore(target: string): Promise<FaultyStore> {
  const seen: SeenRequest[] = [];
  const faulty: { url: string; seen: SeenRequest[]; script: FaultyStore['script']; close(): Promise<void> } = {
    url: '',
    seen,
    script: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const server: Server = createServer((incoming, answer) => {
    const one = {
      number: seen.length + 1,
      method: incoming.method ?? '',
      path: decodeURIComponent(incoming.url ?? ''),
    };
    seen.push(one);
    void Promise.resolve(faulty.script(one)).then((fault) => act(target, fault, incoming, answer));
  });
  faulty.url = `http://127.0.0.1:${await listen(server)}`;
  return faulty;
}

async function act(
  target: string,
  fault: Fault | undefined,
  incoming: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  incoming.on('error', () => undefined);
  if (fault === 'hang') {
    incoming.resume();
    return;
  }
  if (fault === 'reset') {
    incoming.socket.resetAndDestroy();
    return;
  }
  if (typeof fault === 'object' && 'status' in fault) {
    incoming.resume();
    await new Promise((resolve) => incoming.once('end', resolve));
    const body = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>as scripted</Message></Error>`;
    answer.writeHead(fault.status, { 'content-type': 'application/xml' }).end(body);
    return;
  }
  if (typeof fault === 'object') await sleepFor(fault.afterMs);
  const { hostname, port } = new URL(target);
  // The signature names the host that the client sees, so the headers stay as they are.
  const { headers } = incoming;
  const onward = request({ hostname, port, method: incoming.method, path: incoming.url, headers }, (response) => {
    if (fault === 'lose-answer') {
      response.resume();
      response.once('end', () => incoming.socket.destroy());
      return;
    }
    if (fault === 'ignore-conditions' && response.statusCode === 412) {
      response.resume();
      answer.writeHead(200, { etag: '"0"' }).end();
      return;
    }
    answer.writeHead(response.statusCode ?? 500, response.headers);
    response.pipe(answer);
  });
  onward.on('error', () => incoming.socket.destroy());
  if (typeof fault !== 'object' || fault.bytesPerSecond === undefined) incoming.pipe(onward);
  else
    Readable.from(paced(incoming, fault.bytesPerSecond))
      .on('error', () => onward.destroy())
      .pipe(onward);
}

/** The pieces of a request, not faster than this. */
async function* paced(incoming: AsyncIterable<Buffer>, bytesPerSecond: number): AsyncGenerator<Buffer> {
  for await (const piece of incoming) {
    yield piece;
    await sleepFor((1000 * piece.length) / bytesPerSecond);
  }
}
