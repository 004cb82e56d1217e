import { spawn } from 'node:child_process';
import { boundedText } from './answer-text.ts';
import { webhookBody } from './kinds/webhook.ts';
import type { OutgoingMessage } from './message.ts';
import type { Attempt, SendMessage } from './sink.ts';

/** Of the output, no more is read into memory. */
const maxOutputBytes = 64 * 1024;
/** After its end, output that is still on its way is read for so long. */
const lastOutputMs = 500;

/** A command that a crossed threshold runs: no shell, and nothing of the alert among its arguments. */
export interface CommandSettings {
  readonly argv: readonly string[];
  readonly timeLimitSeconds: number;
}

/** What a command needs from outside. */
export interface CommandEffects {
  /** The project folder, in which it runs. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The text with every secret replaced. */
  redact(text: string): string;
}

/** The variables that a command gets; all others may be secrets. */
const passedOn = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const;

/**
 * Opens a sink that runs a command with the alert as JSON on its standard input. A command that has started counts as
 * delivered, whatever its exit code is: it is not run again. Its exit code and output are the answer. One that cannot be
 * started is refused. When the signal comes, the command is killed, and the outcome stays open.
 */
export function openCommand(settings: CommandSettings, effects: CommandEffects): SendMessage {
  return (message) => runCommand(message, settings, effects);
}

function runCommand(
  message: OutgoingMessage,
  { argv, timeLimitSeconds }: CommandSettings,
  { dir, env, signal, redact }: CommandEffects,
): Promise<Attempt> {
  signal.throwIfAborted();
  const [program = '', ...args] = argv;
  const own = Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  return new Promise((resolve, reject) => {
    // A group of its own, so that killing it also kills what it has started.
    const child = spawn(program, args, { cwd: dir, env: own, stdio: 'pipe', detached: true });
    const output: Buffer[] = [];
    let bytes = 0;
    let hasStarted = false;
    let isLate = false;
    let lastOutput: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
    }, timeLimitSeconds * 1000);
    const onAbort = (): void => killGroup(child.pid);
    signal.addEventListener('abort', onAbort, { once: true });
    function end(): void {
      clearTimeout(timer);
      clearTimeout(lastOutput);
      signal.removeEventListener('abort', onAbort);
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        // Also an empty part of it would keep it in memory.
        if (bytes < maxOutputBytes) output.push(chunk);
        bytes += chunk.length;
      });
    }
    child.on('spawn', () => {
      hasStarted = true;
    });
    child.stdin.on('error', () => undefined); // a command need not read its input
    child.stdin.end(`${webhookBody(message)}\n`);
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (hasStarted) return; // its end follows
      end();
      const why = error.code === 'ENOENT' ? 'there is no such program or folder' : (error.code ?? 'unknown error');
      const reason = `could not start ${program}: ${why}; correct run in jobs/budgets.yaml`;
      resolve({ outcome: 'refused', reason, isPassing: false });
    });
    child.on('exit', () => {
      clearTimeout(timer);
      killGroup(child.pid); // what it left behind would hold the output open
      // A daemon has left the group: nobody waits for it.
      lastOutput = setTimeout(() => {
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
      }, lastOutputMs);
    });
    child.on('close', (code, endedBy) => {
      if (!hasStarted) return;
      end();
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const how = isLate
        ? `killed after its time limit of ${timeLimitSeconds} s`
        : code === null
          ? `ended by signal ${endedBy}`
          : `exit code ${code}`;
      const text = redact(Buffer.concat(output).subarray(0, maxOutputBytes).toString('utf8')).trim();
      const answer = boundedText(text === '' ? how : `${how}\n${text}`);
      resolve({ outcome: 'delivered', answer, ...(code === 0 && !isLate ? {} : { reason: how }) });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}
