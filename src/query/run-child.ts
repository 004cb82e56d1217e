import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { MachineError } from '../base/errors.ts';
import { allocatorSettings, allocatorVariable, memoryLimitMb } from '../base/memory.ts';
import { programs } from '../base/places.ts';
import { readWords, toError } from './child-words.ts';
import type { ServiceAnswer, ServiceInput, ServiceName } from './protocol.ts';

const shell = '/bin/sh';

/** How long a child may take to stop before it is killed. */
const graceMs = 2000;
const watchMs = 200;
const maxScriptHeapMb = 512;
/** The shell counts the size of files in blocks of 512 bytes. */
const blocksPerMb = 2048;
const maxWords = 16_384;

/** One job for a child process. */
export interface ChildTask<S extends ServiceName = ServiceName> {
  readonly service: S;
  /** What the service gets, sent as one line of JSON. */
  readonly input: ServiceInput<S>;
  /** The project folder: a killed child's spill files there are removed. */
  readonly dir: string;
  /** Name of the job in messages: `the query`. */
  readonly subject: string;
  /** The folder that relative paths start from; by default the root, where nothing is. */
  readonly folder?: string;
  /** Folders below which the child may write files, besides the project folder; they may not exist yet. */
  readonly writesTo?: readonly string[];
  /** Receives the child's events. */
  readonly onEvent?: (event: unknown) => void;
}

export interface ChildLimits {
  /** Time limit of the child, or between two events; the clock stops while `write` waits for a reader. */
  readonly timeoutMs: number;
  readonly isTimedByEvent?: boolean;
  /** How its user allows more time; by default `raise --timeout`. */
  readonly allowsMore?: string;
  /** Writes a part of the answer; resolves when there is room for the next one. By default it is left out. */
  readonly write?: (chunk: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
  /** Memory limit of the child; by default somewhat more than DuckDB's own limit for a query. */
  readonly memoryMb?: number;
  /** Whether the kernel enforces the memory limit, if it can; otherwise only this process watches it. */
  readonly hasKernelLimit?: boolean;
}

/**
 * Runs a job in a child process, without the environment or any secret, and with limited time and memory. Returns the
 * job's result. The child is gone when this returns or throws.
 * Throws the child's failure, MachineError if it took too long or too much memory, and what `write` or the signal
 * throws; parts of the answer may have been written by then.
 */
export async function runChild<S extends ServiceName>(
  task: ChildTask<S>,
  limits: ChildLimits,
): Promise<ServiceAnswer<S>> {
  const { timeoutMs, write = ignored, signal, memoryMb = childMemoryMb(), hasKernelLimit = true } = limits;
  const { subject } = task;
  signal.throwIfAborted();
  // Known here, so that a killed child's spill files can be removed.
  const reader = randomUUID();
  const child = startChild(task, { memoryMb, fileMb: await largestFileMb(task) }, hasKernelLimit);
  const closed = once(child, 'close').catch((cause) => {
    throw new MachineError(`could not start a process for ${subject}: ${cause.message}`, { cause });
  });
  closed.catch(() => undefined); // awaited below

  const stop = new AbortController();
  function onAbort(): void {
    stop.abort(signal.reason);
  }
  signal.addEventListener('abort', onAbort, { once: true });
  const clock = startClock(timeoutMs, () => stop.abort(tooLate(subject, timeoutMs, limits.allowsMore)));
  const watch = watchMemory(child, memoryMb, () => stop.abort(tooLarge(subject, memoryMb)));
  let kill: NodeJS.Timeout | undefined;
  stop.signal.addEventListener('abort', () => {
    child.stdin.end(); // asks it to stop
    kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
  });
  function onEvent(event: unknown): void {
    if (stop.signal.aborted) return;
    if (limits.isTimedByEvent) clock.restart();
    task.onEvent?.(event);
  }

  try {
    child.stdin
      .on('error', () => undefined)
      .write(`${JSON.stringify({ reader, service: task.service, input: task.input })}\n`); // it may have ended already
    const [end, printed] = await Promise.all([
      readWords<ServiceAnswer<S>>(child.words, onEvent),
      beginningOf(child.stderr),
      (async () => {
        for await (const chunk of child.data) {
          if (stop.signal.aborted) continue; // ignore the rest
          clock.pause();
          await write(chunk);
          if (!stop.signal.aborted) clock.resume();
        }
      })(),
    ]);
    stop.signal.throwIfAborted();
    if (end === undefined) {
      await closed;
      throw diedWithoutWords(child, subject, memoryMb, printed);
    }
    if ('failure' in end) throw toError(end.failure);
    return end.done;
  } catch (error) {
    stop.abort(error);
    await closed; // throws if the process could not start
    throw stop.signal.reason;
  } finally {
    stop.abort();
    clock.pause();
    clearInterval(watch);
    signal.removeEventListener('abort', onAbort);
    await closed.catch(() => undefined);
    clearTimeout(kill);
    if (child.signalCode !== null) {
      // Load DuckDB only here: loading takes longer than everything else in this process.
      const { clearAfterReader } = await import('../warehouse/integrity/index.ts');
      await clearAfterReader(task.dir, reader);
    }
  }
}

async function ignored(): Promise<void> {}

/**
 * DuckDB's own limit plus a quarter and 1 GB for what it does not count, such as the buffers of Parquet files, and for Node
 * and DuckDB themselves. It ends only what would run away.
 */
function childMemoryMb(): number {
  return Math.round(memoryLimitMb(true) * 1.25) + 1024;
}

interface Child extends ChildProcess {
  readonly stdin: Writable;
  readonly stderr: Readable;
  readonly words: Readable;
  readonly data: Readable;
}

/** The whole environment of a child. */
const environment = { [allocatorVariable]: allocatorSettings };

/** What the kernel lets a child use, if it can. */
interface KernelLimits {
  readonly memoryMb: number;
  /** The size of one file. */
  readonly fileMb: number;
}

function startChild({ folder = '/' }: ChildTask, { memoryMb, fileMb }: KernelLimits, hasKernelLimit: boolean): Child {
  const node = [process.execPath, `--max-old-space-size=${maxScriptHeapMb}`, programs.child];
  // Limits the data segment and not the address space, of which V8 reserves far more than it uses. If no limit can be
  // set (macOS has none), the child starts without. No core file: it would contain the books, and several gigabytes.
  const script =
    '(ulimit -d "$1") 2>/dev/null && ulimit -d "$1"; (ulimit -f "$2") 2>/dev/null && ulimit -f "$2"; ' +
    'ulimit -c 0; shift 2; exec "$@"';
  const limits = [String(memoryMb * 1024), String(fileMb * blocksPerMb)];
  const [program = '', ...args] =
    hasKernelLimit && existsSync(shell) ? [shell, '-c', script, 'sh', ...limits, ...node] : node;
  const child = spawn(program, args, {
    env: environment,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, , , words, data] = child.stdio;
  return Object.assign(child, { words, data }) as Child;
}

/**
 * The largest file that a child may write: half of the free space of the disks that it may write to, as DuckDB may spill at
 * most. SQL that finds a way to write then ends with an error and leaves room for the night.
 */
async function largestFileMb({ dir, writesTo = [] }: ChildTask): Promise<number> {
  const free = await Promise.all([dir, tmpdir(), ...writesTo].map(freeBytesAt));
  return Math.max(1, Math.floor(Math.max(...free) / 2 / 1024 / 1024));
}

/** The free space of the disk that a path is on; what does not exist yet will be on that of its folder. */
async function freeBytesAt(path: string): Promise<number> {
  const found = await statfs(path).catch((error: NodeJS.ErrnoException) => error);
  if (!(found instanceof Error)) return found.bavail * found.bsize;
  return dirname(path) === path ? 0 : freeBytesAt(dirname(path));
}

/** The start of a stream's text; the stream is read to its end. */
async function beginningOf(stream: Readable): Promise<string> {
  let printed = '';
  for await (const chunk of stream.setEncoding('utf8')) if (printed.length < maxWords) printed += chunk;
  return printed.slice(0, maxWords);
}

/** Calls `onEnd` after the given time, not counting pauses. */
function startClock(ms: number, onEnd: () => void): { pause(): void; resume(): void; restart(): void } {
  let left = ms;
  let since = performance.now();
  let timer = setTimeout(onEnd, left);
  let isPaused = false;
  function pause(): void {
    clearTimeout(timer);
    if (!isPaused) left -= performance.now() - since;
    isPaused = true;
  }
  function resume(): void {
    isPaused = false;
    since = performance.now();
    timer = setTimeout(onEnd, Math.max(0, left));
  }
  return {
    pause,
    resume,
    restart() {
      const wasPaused = isPaused;
      pause();
      left = ms;
      if (!wasPaused) resume();
    },
  };
}

/** Checks the child's memory from time to time: for machines whose kernel does not enforce the limit. */
function watchMemory({ pid }: ChildProcess, memoryMb: number, onExcess: () => void): NodeJS.Timeout {
  let isLooking = false;
  return setInterval(async () => {
    if (pid === undefined || isLooking) return;
    isLooking = true;
    if ((await residentMb(pid)) > memoryMb) onExcess();
    isLooking = false;
  }, watchMs);
}

/** The memory that a process uses, in MB; 0 if unknown. */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  if (status !== undefined) return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  if (platform() === 'linux') return 0; // it has ended
  const asked = ['-o', 'rss=', '-p', String(pid)];
  // The environment may hold secrets, which other users can read there.
  const ps = await promisify(execFile)('/bin/ps', asked, { env: {} }).catch(() => ({ stdout: '' }));
  return Number(ps.stdout.trim()) / 1024;
}

function tooLate(subject: string, timeoutMs: number, allowsMore = 'raise --timeout'): MachineError {
  return new MachineError(
    `${subject} took longer than ${timeoutMs / 1000} s and was stopped. Query less at once (a shorter time, sums instead of rows), or ${allowsMore}`,
  );
}

function tooLarge(subject: string, memoryMb: number, cause = ''): MachineError {
  return new MachineError(
    `${subject} needed more than the ${memoryMb} MB of memory that it may use and was stopped. Query less at once (fewer rows or columns, sums instead of rows)${cause}`,
  );
}

/** The child ended without a result: V8 and DuckDB do this when memory runs out, and for bugs of their own. */
function diedWithoutWords(
  { exitCode, signalCode }: ChildProcess,
  subject: string,
  memoryMb: number,
  printed: string,
): MachineError {
  const how = signalCode === null ? `exit code ${exitCode}` : signalCode;
  if (/out of memory|bad_alloc|allocation failed/i.test(printed)) return tooLarge(subject, memoryMb, ` (${how})`);
  const [firstLine = ''] = printed.split('\n').filter((line) => line.trim() !== '');
  return new MachineError(
    `the process of ${subject} died (${how}): it needed more than the ${memoryMb} MB of memory that it may use, or triggered a bug in DuckDB. Rephrase the query${firstLine === '' ? '' : ` (${firstLine})`}`,
  );
}
