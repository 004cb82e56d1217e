import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { inject } from 'vitest';
import type { main, usualEffects } from '../../src/main.ts';
import { afterFile } from './clean-up.ts';
import { type Fact, type ScriptedPlatform, startScriptedPlatform } from './scripted-platform.ts';

/** The program as a user starts it; another build can be named, so that two can be tested next to each other. */
export const cli = process.env['COSTBOOK_TEST_CLI'] ?? fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** A project folder that is removed when the test file ends. */
export async function newProject(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'costbook-test-'));
  afterFile(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** What a command said and how it ended. */
export interface Ended {
  /** 128 + n where signal n ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  /** Without the lines of the log that say every ten seconds that it is still at work: how busy a machine is, is no fact. */
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

const stillAtWork = /^\{"at":"[^"]*","level":"info",.*"event":"work.continues",.*\}\n/gm;

/**
 * Starts the program as a process, with nothing of this process' environment but the path. Only where the process is the
 * point: its signals, its death, its locks, its terminal, a second command beside it. Everything else is `runCli`.
 */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: { cwd?: string; uid?: number; gid?: number; stdout?: number; stdin?: string; cli?: string } = {},
): Started {
  const { stdout = 'pipe', stdin, cli: program = cli, ...others } = options;
  const child = spawn(process.execPath, [program, ...args], {
    ...others,
    // A zone that is not UTC, so that a calendar slip shows.
    env: { PATH: process.env['PATH'] ?? '', TZ: 'America/St_Johns', ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', stdout, 'pipe'],
  });
  child.stdin?.end(stdin);
  afterFile(() => child.kill('SIGKILL')); // one that a failing test did not see end
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  const ended = once(child, 'close').then(
    (): Ended => ({
      exitCode: child.exitCode ?? 128 + constants.signals[child.signalCode ?? 'SIGTERM'],
      stdout: Buffer.concat(out).toString(),
      stderr: Buffer.concat(err).toString().replace(stillAtWork, ''),
    }),
  );
  return { process: child, ended };
}

/** A command line that runs in this process. */
export interface Running {
  readonly ended: Promise<Ended>;
  /** The first line of stdout, once it is there. */
  readonly firstLine: Promise<string>;
  /** Resolves as soon as it has said this on one of its streams; throws if it ends before. */
  said(text: string): Promise<void>;
  /** What it has said so far. */
  stdout(): string;
  stderr(): string;
  /** Sends it a signal, as a scheduler or a person at a terminal would. */
  signal(name: 'SIGINT' | 'SIGTERM'): void;
}

interface Program {
  readonly main: typeof main;
  readonly usualEffects: typeof usualEffects;
}

/** Whatever a test looks at, no output has data in the place of words. */
function inWords(ended: Ended): Ended {
  for (const text of [ended.stdout, ended.stderr]) {
    if (/\[object \w+\]/.test(text)) throw new Error(`the output has data in the place of words:\n${text}`);
  }
  return ended;
}

/** The compiled program, which is loaded once: what a user runs is what is tested. */
let program: Promise<Program> | undefined;

/**
 * Runs a command line in this process, with streams of its own and nothing of this process' environment but the path.
 * With `columns` both streams are one terminal as wide as that, and stdout has what it was sent.
 */
export function startMain(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  {
    cwd = process.cwd(),
    stdin = '',
    columns,
  }: { readonly cwd?: string; readonly stdin?: string; readonly columns?: number } = {},
): Running {
  // What Node itself reads as it starts says nothing to a command line that runs here.
  const ofProcess = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'].filter((name) => env[name] !== undefined);
  if (ofProcess.length > 0) throw new Error(`${ofProcess.join(' and ')} needs a process of its own: use startCli`);
  const out = capture(columns);
  const err = columns === undefined ? capture() : out;
  const stderr = () => (err === out ? '' : err.text());
  let take: ((signal: 'SIGINT' | 'SIGTERM') => void) | undefined;
  let early: 'SIGINT' | 'SIGTERM' | undefined;
  let hasEnded = false;
  const mask = process.umask();
  async function run(): Promise<Ended> {
    program ??= import(new URL('../../dist/main.js', import.meta.url).href) as Promise<Program>;
    const { main: runProgram, usualEffects: usual } = await program;
    const environment = { PATH: process.env['PATH'] ?? '', ...env };
    try {
      const exitCode = await runProgram(args, {
        ...usual(environment),
        ...{ stdin: Readable.from(stdin === '' ? [] : [stdin]), stdout: out.stream, stderr: err.stream },
        ...{ env: environment, folder: cwd },
        setUmask: (wanted) => void process.umask(wanted),
        onSignal(taker) {
          take = taker;
          if (early !== undefined) taker(early);
        },
        onUnhandledRejection: () => undefined, // the test runner reports them
        endBySignal(signal) {
          throw new Error(`the command did not end after ${signal}`);
        },
        interrupt: () => undefined,
      });
      return inWords({ exitCode, stdout: out.text(), stderr: stderr().replace(stillAtWork, '') });
    } finally {
      process.umask(mask);
      out.end(stderr());
      hasEnded = true;
    }
  }
  const started: Running = {
    ended: run(),
    firstLine: out.firstLine,
    async said(text) {
      let ended: Ended | undefined;
      void started.ended.then((end) => {
        ended = end;
      });
      while (!out.text().includes(text) && !stderr().includes(text)) {
        if (ended !== undefined) throw new Error(`it ended with ${ended.exitCode} without "${text}": ${ended.stderr}`);
        await Promise.race([out.written(), err.written(), started.ended]);
      }
    },
    stdout: out.text,
    stderr,
    signal(name) {
      if (take === undefined) early = name;
      else take(name);
    },
  };
  afterFile(async () => {
    if (hasEnded) return;
    started.signal('SIGTERM');
    await started.ended;
  });
  return started;
}

/** A stream whose text is kept. */
function capture(columns?: number) {
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString();
  const { promise: firstLine, resolve, reject } = deferred<string>();
  firstLine.catch(() => undefined); // most tests do not read it
  let next = deferred<void>();
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(Buffer.from(chunk));
      next.resolve();
      next = deferred();
      if (chunk.includes('\n')) resolve(text().split('\n')[0] ?? ''); // what comes later changes nothing
      done();
    },
  });
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns });
  return {
    stream,
    text,
    firstLine,
    written: () => next.promise,
    end: (words: string) => reject(new Error(`it ended without a line: ${words}`)),
  };
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: Error): void } {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => undefined, () => undefined];
  const promise = new Promise<T>((done, fail) => {
    [resolve, reject] = [done, fail];
  });
  return { promise, resolve, reject };
}

/** Runs a command line in this process to its end. */
export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: { readonly cwd?: string; readonly stdin?: string } = {},
): Promise<Ended> {
  return startMain(args, env, options).ended;
}

/** One account in the JSON answer of an ingest. */
export interface IngestedAccount {
  account: string;
  completeThrough: string | null;
  settledThrough: string | null;
  role: string | null;
  windows: number;
  pages: number;
  rows: number;
  restated: number;
  requests: { new: number; settle: number; verify: number; repair: number };
  retries: number;
  unproven: { start: string; end: string; reason: string }[];
  postponed: { start: string; end: string; reason: string }[];
  errors: string[];
  inventory: {
    requests: number;
    resources: number;
    opened: number;
    ended: number;
    listings: {
      workspace: string | null;
      resourceType: string;
      outcome: string;
      reason: string | null;
      resources: number;
      opened: number;
      ended: number;
      requests: number;
    }[];
  };
}

export interface IngestOptions {
  readonly now: string;
  readonly as?: 'admin' | 'member';
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ingested extends Ended {
  readonly accounts: IngestedAccount[];
  /** The only account. */
  readonly account: IngestedAccount;
}

/** The command line and environment of an ingest of `acc_one`, whose books start in September 2026. */
export function ingestCommandLine(
  dir: string,
  platform: Pick<ScriptedPlatform, 'url' | 'tokens'>,
  { now, as = 'admin', args = [], env = {} }: IngestOptions,
): [string[], Record<string, string>] {
  return [
    ['ingest', '--dir', dir, '--now', now, '--json', ...args],
    {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: platform.tokens[as],
      COSTBOOK_ACCOUNT: 'acc_one',
      COSTBOOK_SINCE: '2026-09-01',
      COSTBOOK_INVENTORY: 'false', // only who is about resources asks for them
      ...env,
    },
  ];
}

/**
 * Gives a project empty books, if it has none. Without them a first ingest would make the same tables and views, which
 * takes longer than all that it does besides; the ingests that tests start by their command line do.
 */
export async function putEmptyBooks(dir: string): Promise<void> {
  const data = join(dir, 'data');
  if (existsSync(data) || !existsSync(dir)) return; // an ingest makes the folder of a project, or refuses to
  await mkdir(data, { mode: 0o700 });
  await copyFile(inject('emptyBooks'), join(data, 'warehouse.duckdb'));
  await chmod(join(data, 'warehouse.duckdb'), 0o600);
}

/** Runs an ingest to its end and reads its answer. A new project gets empty books before it. */
export async function ingest(dir: string, platform: ScriptedPlatform, options: IngestOptions): Promise<Ingested> {
  await putEmptyBooks(dir);
  const ended = await runCli(...ingestCommandLine(dir, platform, options));
  const { accounts } = (ended.stdout === '' ? { accounts: [] } : JSON.parse(ended.stdout)) as Pick<
    Ingested,
    'accounts'
  >;
  return {
    ...ended,
    accounts,
    get account(): IngestedAccount {
      const [only] = accounts;
      if (only === undefined) throw new Error(`no answer, exit ${ended.exitCode}: ${ended.stderr}`);
      return only;
    },
  };
}

/** A new project, and a scripted platform that has these facts. */
export async function projectWithPlatform(
  facts: readonly Fact[] = [],
): Promise<{ dir: string; platform: ScriptedPlatform }> {
  return { dir: await newProject(), platform: await startScriptedPlatform(facts) };
}

/** The same after a first ingest, however that ended. */
export async function loadedProject(
  facts: readonly Fact[],
  options: IngestOptions,
): Promise<{ dir: string; platform: ScriptedPlatform; first: Ingested }> {
  const { dir, platform } = await projectWithPlatform(facts);
  return { dir, platform, first: await ingest(dir, platform, options) };
}

const loadedOnce = new Map<string, Promise<string>>();

/** As `loadedProject` where the ingest ends with 0. A test file loads equal facts once; the platform has seen no request. */
export async function copyOfLoaded(
  facts: readonly Fact[],
  options: IngestOptions,
): Promise<{ dir: string; platform: ScriptedPlatform }> {
  const key = JSON.stringify([facts, options]);
  if (!loadedOnce.has(key)) {
    afterFile(() => loadedOnce.delete(key));
    loadedOnce.set(
      key,
      loadedProject(facts, options).then(({ dir, first }) => {
        if (first.exitCode !== 0) throw new Error(first.stderr);
        return dir;
      }),
    );
  }
  const { dir, platform } = await projectWithPlatform(facts);
  await cp((await loadedOnce.get(key)) ?? '', dir, { recursive: true });
  return { dir, platform };
}

/** The published snapshot asked by DuckDB itself, not through our code; values as JSON, decimals as text. */
export async function askSnapshot(dir: string, sql: string): Promise<Record<string, unknown>[]> {
  return askFile(join(dir, 'data', 'costbook.duckdb'), sql);
}

export function askFile(file: string, sql: string): Promise<Record<string, unknown>[]> {
  return ask(file, { access_mode: 'READ_ONLY' }, sql);
}

/** The rows of a Parquet file as DuckDB reads them, in their order; values as JSON, decimals as text. */
export function askParquet(file: string): Promise<Record<string, unknown>[]> {
  return ask(':memory:', {}, `from read_parquet('${file}')`);
}

async function ask(
  file: string,
  options: Readonly<Record<string, string>>,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(file, { ...options, threads: '1' });
  try {
    const connection = await instance.connect();
    try {
      const reader = await connection.runAndReadAll(sql);
      return reader.getRowObjectsJson() as Record<string, unknown>[];
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

/** The rows of `costs` in the form of `expectedCosts`. */
export async function costsIn(dir: string): Promise<string[]> {
  const rows = await askSnapshot(
    dir,
    `select concat_ws('|', coalesce(workspace, '-'), resource_type, coalesce(resource_name, '-'),
      coalesce(resource_uuid, '-'), coalesce(billing_dimension, ''), strftime(bucket_start, '%Y-%m-%dT%H:%M:%SZ'), cost, usage) as line
    from costs`,
  );
  return rows.map((row) => String(row['line'])).sort();
}
