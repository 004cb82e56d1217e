import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Log } from '../base/effects.ts';
import { exitCodes } from '../base/errors.ts';
import { programs } from '../base/places.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import type { JobHistory } from '../warehouse/ledger/index.ts';
import type { Job } from './definition.ts';
import { farAheadMs, lastSlots, nextSlot } from './slots.ts';

/** A run in a child process. */
export interface StartedRun {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** Resolves with the exit code, 128 + n after signal n; never rejects. */
  readonly ended: Promise<number>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** The state of a job between its runs. */
export interface JobState {
  readonly job: string;
  /** The next slot; undefined if there is none. */
  readonly next: Instant | undefined;
  readonly isRunning: boolean;
  /** The exit code of the last run that this scheduler started; undefined before the first. */
  readonly last: { readonly slot: Instant; readonly endedAt: Instant; readonly exitCode: number } | undefined;
}

export interface Scheduler {
  /** Starts runs that are due. Call it every minute; extra calls do no harm. */
  tick(): void;
  /** The states by name, in the order of the jobs. */
  states(): readonly JobState[];
  /** Resolves when no run is active or waiting. */
  idle(): Promise<void>;
  /** Starts no more runs, ends the active one, and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface SchedulerAsked {
  /** At least one. */
  readonly jobs: readonly Job[];
  /** By the books: the instant through which each job has run; a job without one starts now. */
  readonly doneThrough: ReadonlyMap<string, Instant>;
  now(): Instant;
  start(job: Job, slot: Instant): StartedRun;
  readonly log: Log;
  /** How long a run may take to end after SIGTERM. */
  readonly stopLimitMs?: number;
}

/** A run ends itself after 25 seconds; waiting much longer risks a kill by the service manager. */
const defaultStopLimitMs = 24_000;
/** A slot noticed later than this counts as missed: the machine slept, or no scheduler ran. */
const lateMs = 10 * 60_000;

/**
 * Starts runs when they are due, never two at once, because they write the same books. A waiting job runs only for its
 * newest slot: every run catches up on earlier ones, and records them.
 */
export function openScheduler(asked: SchedulerAsked): Scheduler {
  const { jobs, now, start, log, stopLimitMs = defaultStopLimitMs } = asked;
  const begunAt = now();
  const doneThrough = new Map(jobs.map(({ name }) => [name, asked.doneThrough.get(name) ?? begunAt]));
  const last = new Map<string, JobState['last']>();
  let waiting: { readonly job: Job; readonly slot: Instant }[] = [];
  let running: { readonly job: Job; readonly run: StartedRun; readonly over: Promise<void> } | undefined;
  let isStopping = false;

  function notice(job: Job): void {
    const { name, timetable, zone, catchUp } = job;
    const through = now();
    // A fast clock has already run that slot: continue from now.
    if ((doneThrough.get(name) ?? 0) > through + farAheadMs) doneThrough.set(name, through);
    const { slots, isCut } = lastSlots(timetable, zone, { after: doneThrough.get(name) ?? through, through, limit: 1 });
    const [slot] = slots;
    if (slot === undefined) return;
    doneThrough.set(name, slot);
    if (catchUp === 'skip' && through - slot > lateMs) {
      log.warn('slot.missed', 'A scheduled run was missed; the next one covers it', {
        job: name,
        slot: formatInstant(slot),
      });
      return;
    }
    if (isCut || through - slot > lateMs) {
      log.warn('slot.caught_up', 'Starting a missed run now', { job: name, slot: formatInstant(slot) });
    }
    const before = waiting.find((candidate) => candidate.job === job);
    if (before !== undefined) {
      log.warn('slot.skipped', 'A scheduled run was skipped: it could not start before the next one', {
        job: name,
        slot: formatInstant(before.slot),
      });
    }
    waiting = [...waiting.filter((candidate) => candidate !== before), { job, slot }].sort((a, b) => a.slot - b.slot);
  }

  function startNext(): void {
    const [first, ...others] = waiting;
    if (first === undefined || running !== undefined || isStopping) return;
    waiting = others;
    const { job, slot } = first;
    const run = start(job, slot);
    log.info('run.started', 'Run started', { job: job.name, slot: formatInstant(slot), process: run.pid ?? null });
    const over = run.ended.then((exitCode) => {
      running = undefined;
      last.set(job.name, { slot, endedAt: now(), exitCode });
      const fields = { job: job.name, slot: formatInstant(slot), exitCode };
      if (exitCode === exitCodes.done) log.info('run.finished', 'Run finished', fields);
      else log.warn('run.failed', 'Run failed', { ...fields, ...hintOf(exitCode) });
      startNext();
    });
    running = { job, run, over };
  }

  return {
    tick() {
      if (isStopping) return;
      for (const job of jobs) notice(job);
      startNext();
    },
    states: () =>
      jobs.map((job) => ({
        job: job.name,
        next: nextSlot(job.timetable, job.zone, Math.max(now(), doneThrough.get(job.name) ?? 0)),
        isRunning: running?.job === job,
        last: last.get(job.name),
      })),
    async idle() {
      while (running !== undefined) await running.over;
    },
    async stop() {
      isStopping = true;
      waiting = [];
      if (running === undefined) return;
      const { run, over, job } = running;
      log.info('schedule.stopping', 'Stopping: waiting for the current run to end', { job: job.name });
      run.kill('SIGTERM');
      const limit = setTimeout(() => run.kill('SIGKILL'), stopLimitMs);
      await over;
      clearTimeout(limit);
    },
  };
}

/** The instant through which each job has run. A job unknown to the books is missing here and starts now. */
export function doneThroughOf(histories: ReadonlyMap<string, JobHistory>): ReadonlyMap<string, Instant> {
  return new Map(
    [...histories].flatMap(([job, { doneThrough, interrupted }]): [string, Instant][] => {
      // If every known run of a job was killed, its slots are caught up.
      const through = doneThrough ?? (interrupted[0] === undefined ? undefined : interrupted[0] - 1);
      return through === undefined ? [] : [[job, through]];
    }),
  );
}

function hintOf(exitCode: number): { hint: string } | undefined {
  if (exitCode === exitCodes.locked) return { hint: 'another process held the warehouse the whole time' };
  return exitCode > 128 ? { hint: 'a signal ended it; the next run catches up' } : undefined;
}

/** Starts `costbook run` in a child process that shares our output, except stdout if `isQuiet`. */
export function startRun(
  args: readonly string[],
  { env, isQuiet }: { readonly env: Readonly<Record<string, string | undefined>>; readonly isQuiet: boolean },
): StartedRun {
  const child = spawn(process.execPath, [programs.cli, 'run', ...args], {
    env: { ...env },
    stdio: ['ignore', isQuiet ? 'ignore' : 'inherit', 'inherit'],
  });
  const ended = once(child, 'close').then(
    () => child.exitCode ?? 128 + constants.signals[child.signalCode ?? 'SIGKILL'],
    () => exitCodes.machine, // it could not be started
  );
  return { pid: child.pid, ended, kill: (signal) => void child.kill(signal) };
}
