import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MachineError } from '../base/errors.ts';
import { programs } from '../base/places.ts';
import type { Instant } from '../time/time.ts';

/** Far longer than a busy machine needs to start a thread. */
const startLimitMs = 30_000;
/** How long the platform may take to close before its thread is ended. */
const stopLimitMs = 5000;

/** What is invented. */
export interface Invention {
  /** The platform's clock, which stands still. */
  readonly now: Instant;
  /** Another seed gives other costs. */
  readonly seed?: number | undefined;
  /** The day before which an agent overspends for a week; by default that of the clock. */
  readonly storyEnd?: Instant | undefined;
}

/** Where an invented platform answers, and for whom. */
export interface PlatformAddress {
  readonly url: string;
  readonly account: string;
  readonly tokens: { readonly admin: string; readonly member: string };
}

/** An invented platform in a thread of its own, so that it answers while this one works. */
export interface InventedPlatform extends PlatformAddress {
  /** Ends it, gracefully if possible. */
  stop(): Promise<void>;
}

/**
 * Starts an invented platform and waits for its address. Throws what its start throws, MachineError if it ends or says
 * nothing in time, and the signal's reason if aborted; the thread has ended then.
 */
export async function startInventedPlatform(
  invention: Invention,
  signal: AbortSignal,
  { limitMs = startLimitMs, program = programs.emulatorWorker }: { limitMs?: number; program?: string } = {},
): Promise<InventedPlatform> {
  signal.throwIfAborted();
  // Without the environment: it holds the tokens of real platforms.
  const worker = new Worker(program, { workerData: invention, env: {}, execArgv: [] });
  const limit = AbortSignal.timeout(limitMs);
  const either = { signal: AbortSignal.any([signal, limit]) };
  try {
    const address = await Promise.race([
      once(worker, 'message', either).then(([said]) => said as PlatformAddress),
      once(worker, 'exit', either).then(() => undefined),
    ]);
    if (address === undefined) throw new MachineError('the emulator ended before it was ready');
    return { ...address, stop: () => stop(worker) };
  } catch (error) {
    await worker.terminate();
    if (signal.aborted) throw signal.reason;
    if (!limit.aborted) throw error;
    throw new MachineError(
      `the emulator did not start within ${limitMs / 1000} s; check that "costbook emulator" works on this machine`,
    );
  }
}

async function stop(worker: Worker): Promise<void> {
  if (worker.threadId === -1) return; // it has ended
  const ended = once(worker, 'exit');
  const force = setTimeout(() => void worker.terminate(), stopLimitMs);
  worker.postMessage('stop');
  await ended;
  clearTimeout(force);
}
