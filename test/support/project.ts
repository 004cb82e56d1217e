import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import type { ScriptedPlatform } from './scripted-platform.ts';

/** The program as a user starts it; another build can be named, so that two can be tested next to each other. */
export const cli = process.env['COSTBOOK_TEST_CLI'] ?? fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const folders: string[] = [];
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL'); // one that a failing test did not see end
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** A project folder that is removed when the test file ends. */
export async function newProject(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'costbook-test-'));
  folders.push(dir);
  return dir;
}

/** What a process said and how it ended. */
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

/** Starts the program with nothing of this process' environment but the path. */
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
  children.push(child);
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

export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return startCli(args, env).ended;
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

/** Runs an ingest to its end and reads its answer. */
export async function ingest(dir: string, platform: ScriptedPlatform, options: IngestOptions): Promise<Ingested> {
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
