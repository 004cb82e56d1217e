import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { MachineError, UsageError } from '../base/errors.ts';
import { linesIn } from '../base/lines.ts';
import { act } from '../base/next-step.ts';
import { type EngineSettings, engineFile } from '../config/index.ts';
import { redactor } from '../text/redactor.ts';
import { failureWords, isRefused, progressWords } from './cluster-words.ts';
import { sparkScript } from './spark-script.ts';
import type { SparkStatement } from './to-spark.ts';

/** How long the command may take to stop before it is killed. */
const graceMs = 3000;
const maxPrinted = 256 * 1024;
/** The variables that the command gets besides those of `engine.env`; all others may be secrets. */
const passedOn = /^(PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|(JAVA|SPARK|HADOOP)_\w+)$/;
/** Those among them whose values are secrets. */
const secretName = /SECRET|PASS|TOKEN|KEY|CREDENTIAL/i;

export interface ClusterOptions {
  readonly settings: EngineSettings;
  /** The project folder: a lake that is a folder is relative to it. */
  readonly dir: string;
  /** The environment, of which the command gets some variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What runs, in messages: `the report cost_by_workspace`. */
  readonly subject: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

/**
 * Runs a statement on the cluster, and calls `use` with a file of its rows: a line of JSON for each. The statement goes by
 * a file that only this user can read; no shell is started. When this returns or throws, the command and the processes that
 * it started are gone, and so are the files. Throws UsageError if the cluster refuses the statement, and MachineError if it
 * fails, takes too long, or cannot be started, in the cluster's own words.
 */
export async function withClusterAnswer<T>(
  statement: SparkStatement,
  options: ClusterOptions,
  use: (rowsFile: string) => Promise<T>,
): Promise<T> {
  options.signal.throwIfAborted();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'costbook-engine-')));
  try {
    const mark = `costbook-${randomUUID()}`;
    const script = join(folder, 'statement.sql');
    const rows = join(folder, 'rows.json');
    await writeFile(script, await sparkScript(statement, { ...options, mark }), { mode: 0o600 });
    await runCommand(script, rows, mark, options);
    return await use(rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runCommand(script: string, rows: string, mark: string, options: ClusterOptions): Promise<void> {
  const { settings, signal, subject, timeoutMs } = options;
  const [program = '', ...args] = settings.command.map((word) => word.replaceAll(engineFile, script));
  const env = Object.fromEntries(
    Object.entries(options.env).filter(([name]) => passedOn.test(name) || settings.env.includes(name)),
  );
  // A group of its own, so that everything that it starts can be ended with it.
  const child = spawn(program, args, { cwd: options.dir, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const closed = once(child, 'close').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such program' : cause.message;
    throw new MachineError(`engine.command: could not start ${program}: ${why}`, {
      cause,
      next: act('name it by its path in costbook.yaml.'),
    });
  });
  closed.catch(() => undefined); // awaited below
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop.abort(tooLate(subject, timeoutMs)), timeoutMs);
  const kills = killsWhenStopped(child, stop.signal);
  try {
    const [hasEnd, printed] = await Promise.all([
      readRows(child.stdout, rows, mark),
      readWords(child.stderr, options.onProgress),
      closed,
    ]);
    stop.signal.throwIfAborted();
    if (child.exitCode === 0 && hasEnd.isWhole) return;
    // Spark may print what it was given, and the failure is stored and sent.
    const { keep, redact } = redactor();
    for (const [name, value = ''] of Object.entries(env)) {
      if (settings.env.includes(name) || secretName.test(name)) keep(value);
    }
    throw failureOf(subject, redact(`${hasEnd.printed}\n${printed}`), child);
  } catch (error) {
    stop.abort(error);
    await closed;
    throw stop.signal.reason;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    stop.abort();
    await closed.catch(() => undefined);
    clearTimeout(kills());
    killGroup(child, 'SIGKILL'); // what the command left behind
  }
}

/** Ends the group when the signal says so: first as a person would, then by force. Returns the timer of the second. */
function killsWhenStopped(child: ChildProcess, signal: AbortSignal): () => NodeJS.Timeout | undefined {
  let timer: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    killGroup(child, 'SIGTERM');
    timer = setTimeout(() => killGroup(child, 'SIGKILL'), graceMs);
  });
  return () => timer;
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Writes the marked lines of the output to a file; the rest is what the command says. */
async function readRows(output: Readable, file: string, mark: string): Promise<{ isWhole: boolean; printed: string }> {
  const rows = createWriteStream(file, { mode: 0o600 });
  let printed = '';
  let count = 0;
  let isWhole = false;
  for await (const line of linesIn(output)) {
    if (line.startsWith(`${mark} `)) {
      const text = line.slice(mark.length + 1);
      if (text === 'end') isWhole = true;
      else {
        count += 1;
        if (!rows.write(`${text}\n`)) await once(rows, 'drain');
      }
    } else if (printed.length < maxPrinted) printed += `${line}\n`;
  }
  if (count === 0) rows.write('');
  rows.end();
  await once(rows, 'close');
  return { isWhole, printed };
}

async function readWords(output: Readable, onProgress: (words: string) => void): Promise<string> {
  let printed = '';
  let last: string | undefined;
  for await (const piece of output.setEncoding('utf8')) {
    const words = progressWords(String(piece));
    if (words !== undefined && words !== last) onProgress(words);
    last = words ?? last;
    printed = (printed + piece).slice(-maxPrinted);
  }
  return printed;
}

function failureOf(subject: string, printed: string, { exitCode, signalCode }: ChildProcess): Error {
  const words = failureWords(printed);
  if (isRefused(printed)) return new UsageError(`the cluster refuses ${subject}: ${words}`);
  const how =
    exitCode === 0 ? 'it ended without its answer' : signalCode === null ? `exit code ${exitCode}` : signalCode;
  return new MachineError(`the cluster could not run ${subject} (${how}): ${words}`);
}

function tooLate(subject: string, timeoutMs: number): MachineError {
  return new MachineError(
    `${subject} took longer than ${timeoutMs / 1000} s on the cluster and was stopped. Query less at once, or raise --timeout`,
  );
}
