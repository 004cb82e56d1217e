import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { AccountSize, Corrections } from './account.ts';

/** The program as a user starts it. */
export const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export const dayMs = 24 * 3_600_000;

export function instant(ms: number): string {
  return new Date(ms).toISOString().replace('.000', '');
}

const folders: string[] = [];
const children: ChildProcess[] = [];

/** A folder that is removed when the bench ends. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-bench-'));
  folders.push(folder);
  return folder;
}

/** Ends what is still running and removes what is left. */
export async function cleanUp(): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** To look is to hold up: every 20 ms was measured to make an ingest a twentieth slower. Both figures only grow. */
const lookEveryMs = 250;

/** What a process took. */
export interface Took {
  readonly seconds: number;
  /** In the process's own threads and in its children, if the system reports it. */
  readonly cpuSeconds: number;
  /** The most memory that it or one of its children held. */
  readonly peakMib: number;
  readonly stdout: string;
}

/** Runs a program to its end, timed from its start. Throws if it fails. */
export async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Took> {
  const begun = performance.now();
  const child = spawn(process.execPath, [...args], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'America/St_Johns', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let peakMib = 0;
  let cpuSeconds = 0;
  function look(): void {
    const all = [child.pid, ...childrenOf(child.pid)];
    peakMib = Math.max(peakMib, ...all.map(peakOf));
    cpuSeconds = Math.max(
      cpuSeconds,
      all.map(cpuOf).reduce((sum, cpu) => sum + cpu, 0),
    );
  }
  child.stdout.once('data', look); // it may end before the first interval
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const looking = setInterval(look, lookEveryMs);
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(looking);
  children.splice(children.indexOf(child), 1);
  if (code !== 0)
    throw new Error(`${args.join(' ')} ended with ${code}:\n${Buffer.concat(err).toString().slice(-4000)}`);
  return { seconds, cpuSeconds, peakMib, stdout: Buffer.concat(out).toString() };
}

/** Prints on descriptor 3 what a program and the children that it waited for took, in thousandths of a second. */
const timed = 'trap : TERM; TIMEFORMAT="%3U %3S"; { time "$0" "$@" 2>/dev/null 3>&-; } 2>&3; exit';

/** What a person or an agent does with a program that stays up. */
export interface Talk {
  /** What its stdin gets at its start; it stays open. */
  readonly input?: string;
  /** Called with each line of stdout; true if the talk is over, and the program may end. */
  onLine(line: string): Promise<boolean>;
}

/**
 * Seconds of CPU of a program and of its children, by the system's own account of ended processes (bash's `time`).
 * Throws if it did not do its work; findings are no failure.
 */
export async function cpuOfEnded(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  talk?: Talk,
): Promise<number> {
  const child = spawn('bash', ['-c', timed, process.execPath, ...args], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'America/St_Johns', ...env },
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    detached: true,
  });
  children.push(child);
  if (talk === undefined) child.stdin?.end();
  else child.stdin?.write(talk.input ?? '');
  let printed = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const closed = once(child, 'close');
  let isOver = talk === undefined;
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    if (isOver || !(await talk?.onLine(line))) continue;
    isOver = true;
    child.stdin?.end();
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  }
  const [code] = await closed;
  children.splice(children.indexOf(child), 1);
  // A bug, a mistake on the command line, a machine that failed, or no answer.
  if (code === null || [1, 2, 7].includes(code) || !isOver) throw new Error(`${args.join(' ')} ended with ${code}`);
  return printed
    .trim()
    .split(' ')
    .reduce((sum, seconds) => sum + Number(seconds), 0);
}

/** The peak memory of a process in MiB; 0 if the system does not report it. */
export function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Seconds of CPU of a process and of its children that have ended, in hundredths; 0 if the system does not report it. */
function cpuOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / 100;
  } catch {
    return 0;
  }
}

/** The processes that a process has started and that still run. */
function childrenOf(pid: number | undefined): number[] {
  try {
    const found = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    return found.flatMap((child) => [child, ...childrenOf(child)]);
  } catch {
    return [];
  }
}

/** A platform in a process of its own. */
export interface BenchPlatform {
  readonly url: string;
  /** From now on every answer has this delay, and requests are counted from 0 again. */
  begin(latencyMs: number): Promise<void>;
  /** Corrects one of so many rows from an hour on (in hours since 1970); another number corrects other rows. */
  correct(corrections: Corrections): Promise<void>;
  /** What was asked since then, in order, and how many bytes of answers it was. */
  asked(): Promise<{ asked: string[]; bytes: number }>;
  close(): Promise<void>;
}

export async function startPlatform(size: AccountSize): Promise<BenchPlatform> {
  const child = spawn(process.execPath, [beside('platform.js'), JSON.stringify(size)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const [said] = await once(child.stdout, 'data');
  const url = String(said).trim();
  return {
    url,
    async begin(latencyMs) {
      await (await fetch(`${url}/bench/begin?latencyMs=${latencyMs}`)).text();
    },
    async correct({ fromHour, oneOf, number }) {
      await (await fetch(`${url}/bench/correct?fromHour=${fromHour}&oneOf=${oneOf}&number=${number}`)).text();
    },
    async asked() {
      return (await (await fetch(`${url}/bench/asked`)).json()) as { asked: string[]; bytes: number };
    },
    async close() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** Starts a command that stays up, and returns the first line that it writes. */
export async function startServer(
  args: readonly string[],
): Promise<{ line: string; pid: number | undefined; stop(): void }> {
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [first] = await once(child.stdout, 'data');
  return { line: String(first), pid: child.pid, stop: () => void child.kill('SIGTERM') };
}

/** A program of the bench itself. */
export function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Ingests into a project folder and returns what the program says of the one account. */
export async function ingest(
  platform: BenchPlatform,
  dir: string,
  times: { readonly since: string; readonly now: string },
): Promise<Took & { windows: number; pages: number; rows: number; requests: number }> {
  const took = await run([cli, 'ingest', '--dir', dir, '--now', times.now, '--json'], {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: 'bench',
    COSTBOOK_ACCOUNT: 'acc_bench',
    COSTBOOK_SINCE: times.since,
  });
  const { windows, pages, rows, requests } = JSON.parse(took.stdout).accounts[0];
  const calls = Object.values<number>(requests).reduce((sum, count) => sum + count, 0);
  return { ...took, windows, pages, rows, requests: calls };
}
