import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { MachineError } from '../errors.ts';

/** Far longer than a busy machine needs to start a process. */
const startLimitMs = 30_000;
/** How long a process may take to exit after SIGTERM before it is killed. */
const stopLimitMs = 5000;

/** An invented platform in a child process. */
export interface InventedPlatform {
  readonly url: string;
  readonly account: string;
  readonly tokens: { readonly admin: string; readonly member: string };
  /** Ends the process, gracefully if possible. */
  stop(): Promise<void>;
}

/**
 * Starts `node` with these arguments and waits for the JSON line with the platform's address. Its stderr passes through.
 * Throws MachineError if it exits, prints something else, or prints nothing in time, and the signal's reason if aborted;
 * the process has ended then.
 */
export async function startInventedPlatform(
  args: readonly string[],
  signal: AbortSignal,
  limitMs: number = startLimitMs,
): Promise<InventedPlatform> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  const limit = AbortSignal.timeout(limitMs);
  const either = { signal: AbortSignal.any([signal, limit]) };
  try {
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line', either).then(([text]) => String(text)),
      once(child, 'exit', either).then(() => undefined),
    ]);
    if (line === undefined) throw new MachineError('the emulator exited before it was ready; its output is above');
    return { ...readLine(line), stop: () => stop(child) };
  } catch (error) {
    child.kill('SIGKILL');
    if (signal.aborted) throw signal.reason;
    if (!limit.aborted) throw error;
    throw new MachineError(
      `the emulator did not start within ${limitMs / 1000} s; check that "costbook emulator" works on this machine`,
    );
  }
}

function readLine(line: string): Omit<InventedPlatform, 'stop'> {
  try {
    return JSON.parse(line) as Omit<InventedPlatform, 'stop'>;
  } catch (cause) {
    const begin = JSON.stringify(line.slice(0, 60));
    throw new MachineError(`the emulator printed ${begin}, expected a line of JSON`, { cause });
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const force = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(force);
}
