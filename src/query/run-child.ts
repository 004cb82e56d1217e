import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { CostbookError, exitCodes, MachineError } from '../errors.ts';
import { memoryLimitMb } from '../memory.ts';
import type { Failure } from './question.ts';

const shell = '/bin/sh';

/** How long a child that is asked to stop may take before it is killed. */
const graceMs = 2000;
const watchMs = 200;
const maxScriptHeapMb = 512;
const maxWords = 16_384;

/** A process of its own that does one piece of work. */
export interface ChildTask {
  /** Its program, which calls `serveParent`. */
  readonly program: string;
  /** What it is asked; sent as one line of JSON. */
  readonly request: unknown;
  /** The project folder: what a killed child spilled there is removed. */
  readonly dir: string;
  /** What the work is called in messages: `the query`. */
  readonly subject: string;
  /** The folder that relative paths start from; by default the root, where nothing is. */
  readonly folder?: string;
  /** Takes what the child reports meanwhile. */
  readonly onEvent?: (event: unknown) => void;
}

export interface ChildLimits {
  /** How long the child may take in all, or from one event to the next; while `write` waits for a reader the time stands still. */
  readonly timeoutMs: number;
  readonly isTimedByEvent?: boolean;
  /** Takes a piece of the answer; resolves when there is room for the next one. */
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
  /** What the child may need in all; by default somewhat more than DuckDB itself allows a query. */
  readonly memoryMb?: number;
  /** Whether the kernel holds the child to its memory, where it can; otherwise this process alone watches it. */
  readonly hasKernelLimit?: boolean;
}

/**
 * Does work in a process of its own, without the environment and without any secret, and with bounded time and memory.
 * Returns what the work returns. The child is gone when this returns or throws.
 *
 * Throws what the child failed with, MachineError where it took too long or too much memory, and what `write` or the
 * signal throws; pieces may have been written by then.
 */
export async function runChild<T>(task: ChildTask, limits: ChildLimits): Promise<T> {
  const { timeoutMs, write, signal, memoryMb = childMemoryMb(), hasKernelLimit = true } = limits;
  const { subject } = task;
  signal.throwIfAborted();
  // Known here, so that what the child spills can be removed after it was killed.
  const reader = randomUUID();
  const child = startChild(task, memoryMb, hasKernelLimit);
  const closed = once(child, 'close').catch((cause) => {
    throw new MachineError(`no process could be started for ${subject}: ${cause.message}`, { cause });
  });
  closed.catch(() => undefined); // waited for below

  const stop = new AbortController();
  function onAbort(): void {
    stop.abort(signal.reason);
  }
  signal.addEventListener('abort', onAbort, { once: true });
  const clock = startClock(timeoutMs, () => stop.abort(tooLate(subject, timeoutMs)));
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
    child.stdin.on('error', () => undefined).write(`${JSON.stringify({ reader, request: task.request })}\n`); // it may have ended already
    const [end, printed] = await Promise.all([
      readWords<T>(child.words, onEvent),
      beginningOf(child.stderr),
      (async () => {
        for await (const chunk of child.data) {
          if (stop.signal.aborted) continue; // what it still has to say is not wanted
          clock.pause();
          await write(chunk);
          clock.resume();
        }
      })(),
    ]);
    stop.signal.throwIfAborted();
    if (end === undefined) {
      await closed;
      throw diedWithoutWords(child, subject, memoryMb, printed);
    }
    if ('failure' in end) throw asError(end.failure);
    return end.done;
  } catch (error) {
    stop.abort(error);
    await closed; // where it could not be started, that is the reason
    throw stop.signal.reason;
  } finally {
    stop.abort();
    clock.pause();
    clearInterval(watch);
    signal.removeEventListener('abort', onAbort);
    await closed.catch(() => undefined);
    clearTimeout(kill);
    if (child.signalCode !== null) {
      // Loaded only here: to load DuckDB takes longer than all else that this process does.
      const { clearAfterReader } = await import('../warehouse/index.ts');
      await clearAfterReader(task.dir, reader);
    }
  }
}

/** What a child says on its channel of words: events, and at last how it ended. */
type Words<T> = { readonly event: unknown } | End<T>;
type End<T> = { readonly done: T } | { readonly failure: Failure };

/** Reads words to their end; undefined where the child died before it said how it ended. */
async function readWords<T>(words: Readable, onEvent: (event: unknown) => void): Promise<End<T> | undefined> {
  let end: End<T> | undefined;
  for await (const line of createInterface({ input: words, crlfDelay: Number.POSITIVE_INFINITY })) {
    const read = JSON.parse(line) as Words<T>;
    if ('event' in read) onEvent(read.event);
    else end = read;
  }
  return end;
}

/** DuckDB's own limit with a quarter on top for what it does not count, and room for Node and DuckDB themselves. */
function childMemoryMb(): number {
  return Math.round(memoryLimitMb(true) * 1.25) + 384;
}

interface Child extends ChildProcess {
  readonly stdin: Writable;
  readonly stderr: Readable;
  readonly words: Readable;
  readonly data: Readable;
}

function startChild({ program: file, folder = '/' }: ChildTask, memoryMb: number, hasKernelLimit: boolean): Child {
  const node = [process.execPath, `--max-old-space-size=${maxScriptHeapMb}`, file];
  // The data segment and not the address space, of which V8 reserves far more than it uses. Where a limit cannot be
  // set (macOS has none) the child starts without. No core file: it would hold the books, and some gigabytes.
  const script = '(ulimit -d "$1") 2>/dev/null && ulimit -d "$1"; ulimit -c 0; shift; exec "$@"';
  const [program = '', ...args] =
    hasKernelLimit && existsSync(shell) ? [shell, '-c', script, 'sh', String(memoryMb * 1024), ...node] : node;
  const child = spawn(program, args, { env: {}, cwd: folder, stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'] });
  const [, , , words, data] = child.stdio;
  return Object.assign(child, { words, data }) as Child;
}

/** The first words of a stream, which is read to its end. */
async function beginningOf(stream: Readable): Promise<string> {
  let printed = '';
  for await (const chunk of stream.setEncoding('utf8')) if (printed.length < maxWords) printed += chunk;
  return printed.slice(0, maxWords);
}

/** Counts the time down to `onEnd`, except while it is paused. */
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

/** Looks at the child's memory every now and then: for machines on which the kernel does not hold it to its limit. */
function watchMemory({ pid }: ChildProcess, memoryMb: number, onExcess: () => void): NodeJS.Timeout {
  let isLooking = false;
  return setInterval(async () => {
    if (pid === undefined || isLooking) return;
    isLooking = true;
    if ((await residentMb(pid)) > memoryMb) onExcess();
    isLooking = false;
  }, watchMs);
}

/** The memory that a process has in use, in MB; 0 where that cannot be told. */
async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  if (status !== undefined) return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  const ps = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return Number(ps.stdout.trim()) / 1024;
}

function tooLate(subject: string, timeoutMs: number): MachineError {
  return new MachineError(
    `${subject} took longer than ${timeoutMs / 1000} s and was ended: ask for less at once (a shorter time, sums instead of rows), or give it more with --timeout`,
  );
}

function tooLarge(subject: string, memoryMb: number, cause = ''): MachineError {
  return new MachineError(
    `${subject} needed more than the ${memoryMb} MB of memory that it may use and was ended: ask for less at once (fewer rows or columns, sums instead of rows)${cause}`,
  );
}

/** It ended without an outcome: V8 and DuckDB give up in this way where memory is not to be had, and for faults of their own. */
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
    `the process of ${subject} died (${how}): it needed more than the ${memoryMb} MB of memory that it may use, or met a fault of DuckDB; ask in another way${firstLine === '' ? '' : ` (${firstLine})`}`,
  );
}

/** A failure of the child, as if it had been thrown here. */
class ChildError extends CostbookError {
  override readonly exitCode: number;
  constructor({ exitCode, message }: Failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An error that a child reported as an error of this process. */
export function toError(failure: Failure): CostbookError {
  if (failure.exitCode !== exitCodes.bug) return new ChildError(failure);
  throw asBug(failure);
}

function asError(failure: Failure): Error {
  return failure.exitCode === exitCodes.bug ? asBug(failure) : new ChildError(failure);
}

function asBug({ message, stack }: Failure): Error {
  const bug = new Error(message);
  if (stack !== undefined) bug.stack = stack;
  return bug;
}
