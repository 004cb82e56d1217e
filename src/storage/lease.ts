import { randomUUID } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { LockedError } from '../base/errors.ts';
import { ConditionError, type Labels, type ObjectStore } from './store.ts';

/** The object that says who publishes in a folder. Readers of data ignore names that start with a dot. */
export const leaseName = '.costbook-lease.json';

/** Times of a lease; tests use shorter ones. */
export interface LeaseTimes {
  /** A lease that nobody renewed for this long is dead. */
  readonly deadAfterMs: number;
  /** How long to wait for another publisher. */
  readonly patienceMs: number;
}

export const usualLeaseTimes: LeaseTimes = { deadAfterMs: 30_000, patienceMs: 60_000 };
const lookMs = 1000;

/** An etag that no object has. */
const otherEtag = '0'.repeat(32);

interface LeaseText {
  readonly costbook: 'lease';
  /** Distinct for each publication. */
  readonly run: string;
  /** For people: machine and process. */
  readonly by: string;
  /** The process on its machine, if that machine says enough to tell whether it still runs. */
  readonly process: string | null;
  /** Counts up, so that each renewal is another object. */
  readonly renewal: number;
  /** Whether its publication ended without finishing. */
  readonly isEnded: boolean;
}

/** The right to publish in one folder of a store. */
export interface Lease {
  readonly run: string;
  /** Whether an earlier publication did not finish. */
  readonly isAfterFailure: boolean;
  /** Whether the store refuses a write whose condition is not met. */
  readonly isConditional: boolean;
  /** Throws if somebody else may publish by now. */
  check(): void;
  /** Renews it now, so that nobody else has it at this moment. Throws if somebody has. */
  prove(): Promise<void>;
  /** Gives it back; `isFinished` says that nothing is left to do for a later run. */
  release(isFinished: boolean): Promise<void>;
}

/**
 * Takes the lease of a folder, in the object `key`. Waits for another publisher that renews its lease, and takes over
 * from one that no longer does. Whether a lease is renewed is seen by its etag and by this machine's own clock, so clocks
 * of several machines are not compared. Throws LockedError.
 */
export async function takeLease(
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
  times: LeaseTimes = usualLeaseTimes,
): Promise<Lease> {
  const run = randomUUID();
  const text: LeaseText = {
    costbook: 'lease',
    run,
    by: `${hostname()}, process ${process.pid}`,
    process: (await processName(process.pid)) ?? null,
    renewal: 0,
    isEnded: false,
  };
  const began = performance.now();
  /** Every way round the loop ends here: no answer of a store makes it ask without a pause, or for ever. */
  async function waitTurn(other: Pick<LeaseText, 'by'> | undefined, advice?: string): Promise<void> {
    if (performance.now() - began >= times.patienceMs) {
      throw new LockedError(`${store.url}/${key}`, other?.by ?? 'nobody that can be seen', {
        advice:
          advice ??
          'the store refuses to write this object, although its own condition is met (a store that keeps versions may ' +
            'take a deleted object for one). Remove the object with all its versions, or name another prefix; nothing was changed',
      });
    }
    await sleepFor(Math.min(lookMs, times.deadAfterMs / 4), undefined, { signal }).catch(() => undefined);
  }
  let seen: { readonly etag: string; readonly at: number } | undefined;
  for (;;) {
    signal.throwIfAborted();
    const current = await store.readText(key);
    if (current === undefined) {
      const etag = await taken(store.putText(key, line(text), labelsOf(text), { ifAbsent: true }));
      if (etag !== undefined) return hold({ store, key, times, text, etag, isAfterFailure: false });
      await waitTurn(undefined);
      continue;
    }
    const other = parseLease(current.text);
    if (seen?.etag !== current.etag) seen = { etag: current.etag, at: performance.now() };
    const isDead = performance.now() - seen.at >= times.deadAfterMs;
    if (isDead || other?.isEnded === true || (await hasEnded(other?.process))) {
      const etag = await taken(store.putText(key, line(text), labelsOf(text), { ifEtag: current.etag }));
      if (etag !== undefined) return hold({ store, key, times, text, etag, isAfterFailure: true });
      await waitTurn({ by: 'a publisher that has ended' });
      continue;
    }
    await waitTurn(other ?? { by: 'another publisher' }, publishing);
  }
}

const publishing = 'it publishes the same export there now. Wait until it ends and run this again; nothing was changed';

async function taken(put: Promise<string>): Promise<string | undefined> {
  try {
    return await put;
  } catch (error) {
    if (error instanceof ConditionError) return undefined;
    throw error;
  }
}

async function hold({
  store,
  key,
  times,
  text,
  etag: first,
  isAfterFailure,
}: {
  store: ObjectStore;
  key: string;
  times: LeaseTimes;
  text: LeaseText;
  etag: string;
  isAfterFailure: boolean;
}): Promise<Lease> {
  const lost = new AbortController();
  let etag = first;
  let { renewal } = text;
  let renewedAt = performance.now();
  // The object is there, and it has another etag, so a store that honors conditions refuses both.
  let isConditional = true;
  for (const condition of [{ ifAbsent: true }, { ifEtag: otherEtag }] as const) {
    const labels = { ...labelsOf(text), 'costbook-run': 'probe' };
    const stored = await taken(store.putText(key, line(text), labels, condition));
    if (stored === undefined) continue;
    etag = stored;
    isConditional = false;
  }

  function lose(): void {
    if (lost.signal.aborted) return;
    const advice =
      'it took over the publication, because this one did not renew its lease for too long. Its files are whole; run this again';
    lost.abort(new LockedError(`${store.url}/${key}`, 'another publisher', { advice }));
  }
  async function write(change: Partial<LeaseText>): Promise<void> {
    renewal += 1;
    const next = { ...text, ...change, renewal };
    if (!isConditional && parseLease((await store.readText(key))?.text ?? '')?.run !== text.run) {
      throw new ConditionError(`${store.url}/${key} was written by somebody else`);
    }
    etag = await store.putText(key, line(next), labelsOf(next), { ifEtag: etag });
    renewedAt = performance.now();
  }
  let writing: Promise<void> = Promise.resolve();
  /** Renews after the renewal that is under way. A store that fails for a moment does not end the lease; time does. */
  function renew(change: Partial<LeaseText> = {}): Promise<void> {
    const renewed = writing.then(() => write(change));
    writing = renewed.catch((error: unknown) => {
      if (error instanceof ConditionError || performance.now() - renewedAt >= times.deadAfterMs) lose();
    });
    return renewed;
  }
  const timer = setInterval(() => void renew().catch(() => undefined), times.deadAfterMs / 4);
  timer.unref();

  function check(): void {
    if (performance.now() - renewedAt >= times.deadAfterMs) lose();
    lost.signal.throwIfAborted();
  }
  return {
    run: text.run,
    ...{ isAfterFailure, isConditional, check },
    async prove() {
      check();
      await renew();
      check();
    },
    async release(isFinished) {
      clearInterval(timer);
      await writing;
      if (lost.signal.aborted || performance.now() - renewedAt >= times.deadAfterMs) return;
      if (isFinished) await store.remove(key);
      else await renew({ isEnded: true });
    },
  };
}

function labelsOf({ run, renewal }: LeaseText): Labels {
  return { 'costbook-run': run, 'costbook-renewal': String(renewal) };
}

function line(text: LeaseText): string {
  return `${JSON.stringify(text)}\n`;
}

/** The text of a lease; undefined for anything else. */
export function parseLease(text: string): LeaseText | undefined {
  try {
    const value = JSON.parse(text) as Partial<LeaseText> | null;
    return value?.costbook === 'lease' && typeof value.by === 'string' ? (value as LeaseText) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A name of a process that no other process ever has: the machine since it was started, its space of process numbers,
 * the number, and the instant of its start. Undefined where the system does not say so.
 */
async function processName(number: number): Promise<string | undefined> {
  const space = await spaceName();
  const stat = await readFile(`/proc/${number}/stat`, 'utf8').catch(() => undefined);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state, start] = [fields[0], fields[19]];
  // A zombie has ended; its parent has not asked yet.
  return space === undefined || start === undefined || state === 'Z' ? undefined : `${space} ${number} ${start}`;
}

async function spaceName(): Promise<string | undefined> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** Whether a process of this machine has ended. False if nobody can tell. */
async function hasEnded(name: string | null | undefined): Promise<boolean> {
  const space = await spaceName();
  if (typeof name !== 'string' || space === undefined || !name.startsWith(`${space} `)) return false;
  const number = Number(name.slice(space.length + 1).split(' ')[0]);
  return Number.isSafeInteger(number) && (await processName(number)) !== name;
}
