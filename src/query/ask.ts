import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CostbookError, exitCodes, MachineError } from '../errors.ts';
import { memoryLimitMb } from '../memory.ts';
import type { Answered, Failure, Outcome, Question } from './question.ts';

const childFile = fileURLToPath(new URL('child.js', import.meta.url));
const shell = '/bin/sh';

/** How long a child that is told to stop may take before it is killed. */
const graceMs = 2000;
const watchMs = 200;
const maxScriptHeapMb = 512;
const maxWords = 16_384;

export interface AskOptions {
  /** How long may be waited for the child in all; while `write` waits for a reader the time stands still. */
  readonly timeoutMs: number;
  /** Takes a piece of the answer; resolves when there is room for the next one. */
  readonly write: (piece: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
  /** What the child may need in all; by default somewhat more than DuckDB itself allows a query. */
  readonly memoryMb?: number;
  /** Whether the kernel holds the child to its memory, where it can; otherwise this process alone watches it. */
  readonly hasKernelLimit?: boolean;
}

/**
 * Asks a question in a process of its own: with the snapshot for reading, without network, files, settings,
 * environment or any secret, and with bounded time and memory. Whatever typed SQL does there, nothing is left of it.
 *
 * Throws what the child failed with, MachineError where it took too long or too much memory, and what `write` or the
 * signal throws; pieces may have been written by then. The child is gone when this returns or throws.
 */
export async function ask(question: Question, options: AskOptions): Promise<Answered> {
  const { timeoutMs, write, signal, memoryMb = childMemoryMb(), hasKernelLimit = true } = options;
  signal.throwIfAborted();
  // Known here, so that what the child spills can be removed after it was killed.
  const reader = randomUUID();
  const child = startChild(memoryMb, hasKernelLimit);
  const closed = once(child, 'close').catch((cause) => {
    throw new MachineError(`no process could be started to answer the query: ${cause.message}`, { cause });
  });
  closed.catch(() => undefined); // waited for below

  const stop = new AbortController();
  function onAbort(): void {
    stop.abort(signal.reason);
  }
  signal.addEventListener('abort', onAbort, { once: true });
  const clock = startClock(timeoutMs, () => stop.abort(tooLate(timeoutMs)));
  const watch = watchMemory(child, memoryMb, () => stop.abort(tooLarge(memoryMb)));
  let kill: NodeJS.Timeout | undefined;
  stop.signal.addEventListener('abort', () => {
    child.stdin.end(); // asks it to stop
    kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
  });

  try {
    child.stdin.on('error', () => undefined).write(`${JSON.stringify({ ...question, reader })}\n`); // it may have ended already
    const [outcome, said] = await Promise.all([
      text(child.outcome),
      beginningOf(child.stderr),
      (async () => {
        for await (const piece of child.data) {
          if (stop.signal.aborted) continue; // what it still has to say is not wanted
          clock.pause();
          await write(piece);
          clock.resume();
        }
      })(),
    ]);
    stop.signal.throwIfAborted();
    if (outcome === '') {
      await closed;
      throw diedWithoutWords(child, memoryMb, said);
    }
    const read = JSON.parse(outcome) as Outcome;
    if ('failure' in read) throw asError(read.failure);
    return read.answered;
  } catch (error) {
    stop.abort(error);
    await closed; // where it could not be started, that is what there is to tell
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
      await clearAfterReader(question.dir, reader);
    }
  }
}

/** DuckDB's own limit with a quarter on top for what it does not count, and room for Node and DuckDB themselves. */
function childMemoryMb(): number {
  return Math.round(memoryLimitMb(true) * 1.25) + 384;
}

interface Child extends ChildProcess {
  readonly stdin: Writable;
  readonly stderr: Readable;
  readonly outcome: Readable;
  readonly data: Readable;
}

function startChild(memoryMb: number, hasKernelLimit: boolean): Child {
  const node = [process.execPath, `--max-old-space-size=${maxScriptHeapMb}`, childFile];
  // The data segment and not the address space, of which V8 reserves far more than it uses. Where a limit cannot be
  // set (macOS has none) the child starts without. No core file: it would hold the books, and some gigabytes.
  const script = '(ulimit -d "$1") 2>/dev/null && ulimit -d "$1"; ulimit -c 0; shift; exec "$@"';
  const [program = '', ...args] =
    hasKernelLimit && existsSync(shell) ? [shell, '-c', script, 'sh', String(memoryMb * 1024), ...node] : node;
  const child = spawn(program, args, { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'] });
  const [, , , outcome, data] = child.stdio;
  return Object.assign(child, { outcome, data }) as Child;
}

/** The first words of a stream, which is read to its end. */
async function beginningOf(stream: Readable): Promise<string> {
  let said = '';
  for await (const piece of stream.setEncoding('utf8')) if (said.length < maxWords) said += piece;
  return said.slice(0, maxWords);
}

/** Counts the time down to `onEnd`, except while it is paused. */
function startClock(ms: number, onEnd: () => void): { pause(): void; resume(): void } {
  let left = ms;
  let since = performance.now();
  let timer = setTimeout(onEnd, left);
  return {
    pause() {
      clearTimeout(timer);
      left -= performance.now() - since;
    },
    resume() {
      since = performance.now();
      timer = setTimeout(onEnd, Math.max(0, left));
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

function tooLate(timeoutMs: number): MachineError {
  return new MachineError(
    `the query took longer than ${timeoutMs / 1000} s and was ended: ask for less at once (a shorter time, sums instead of rows), or give it more with --timeout`,
  );
}

function tooLarge(memoryMb: number, cause = ''): MachineError {
  return new MachineError(
    `the query needed more than the ${memoryMb} MB of memory that one may use and was ended: ask for less at once (fewer rows or columns, sums instead of rows)${cause}`,
  );
}

/** It ended without an outcome: V8 and DuckDB give up in this way where memory is not to be had, and for faults of their own. */
function diedWithoutWords({ exitCode, signalCode }: ChildProcess, memoryMb: number, said: string): MachineError {
  const how = signalCode === null ? `exit code ${exitCode}` : signalCode;
  if (/out of memory|bad_alloc|allocation failed/i.test(said)) return tooLarge(memoryMb, ` (${how})`);
  const [firstLine = ''] = said.split('\n').filter((line) => line.trim() !== '');
  return new MachineError(
    `the process that answered the query died (${how}): it needed more than the ${memoryMb} MB of memory that it may use, or met a fault of DuckDB; ask in another way${firstLine === '' ? '' : ` (${firstLine})`}`,
  );
}

/** What the child failed with, as if it had been thrown here. */
class ToldError extends CostbookError {
  override readonly exitCode: number;
  constructor({ exitCode, message }: Failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

function asError(failure: Failure): Error {
  if (failure.exitCode !== exitCodes.bug) return new ToldError(failure);
  const bug = new Error(failure.message);
  if (failure.stack !== undefined) bug.stack = failure.stack;
  return bug;
}
