import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { schedule as scheduleCron, setLogger } from 'node-cron';
import type { Log } from '../effects.ts';
import { exitCodes } from '../errors.ts';
import { formatInstant, type Instant } from '../time.ts';
import type { JobHistory } from '../warehouse/index.ts';
import type { Job } from './definition.ts';
import { farAheadMs, lastSlots, nextSlot } from './slots.ts';

/** A run in a process of its own. */
export interface StartedRun {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  /** Resolves with the exit code, 128 + n where signal n ended it; never rejects. */
  readonly ended: Promise<number>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** What is known of a job between its runs. */
export interface JobState {
  readonly job: string;
  /** The slot that comes next; undefined where none does. */
  readonly next: Instant | undefined;
  readonly isRunning: boolean;
  /** How the last run that this scheduler started ended; undefined before there was one. */
  readonly last: { readonly slot: Instant; readonly endedAt: Instant; readonly exitCode: number } | undefined;
}

export interface Scheduler {
  /** Looks what is due and sees to it that it runs. To be called every minute, and whenever one likes. */
  tick(): void;
  /** By name, in the order of the jobs. */
  states(): readonly JobState[];
  /** Resolves when nothing runs and nothing waits to be run. */
  idle(): Promise<void>;
  /** Starts nothing more, tells the run under way to end, and resolves when it has. */
  stop(): Promise<void>;
}

export interface SchedulerAsked {
  /** At least one. */
  readonly jobs: readonly Job[];
  /** Through when each job needs no run any more, by the books; a job that is not there begins now. */
  readonly doneThrough: ReadonlyMap<string, Instant>;
  now(): Instant;
  start(job: Job, slot: Instant): StartedRun;
  readonly log: Log;
  /** How long a run that is told to end may take for it. */
  readonly stopLimitMs?: number;
}

/** A run ends itself after 25 seconds; whoever waits for it somewhat longer is a service manager's kill away. */
const defaultStopLimitMs = 24_000;
/** What is noticed later than this was missed: this machine slept, or nothing ran here. */
const lateMs = 10 * 60_000;

/**
 * Starts runs when they are due, never two at once: they write the same books. Of a job that waits only the newest slot
 * is run, as every run makes up for those before it; it notes them itself.
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
    // A clock that was fast has run that slot: the job goes on from now.
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

/** Through when jobs need no run any more. A job of which the books know nothing is not there: it begins now. */
export function doneThroughOf(histories: ReadonlyMap<string, JobHistory>): ReadonlyMap<string, Instant> {
  return new Map(
    [...histories].flatMap(([job, { doneThrough, interrupted }]): [string, Instant][] => {
      // Where all that is known of a job was killed, that is made up for.
      const through = doneThrough ?? (interrupted[0] === undefined ? undefined : interrupted[0] - 1);
      return through === undefined ? [] : [[job, through]];
    }),
  );
}

function hintOf(exitCode: number): { hint: string } | undefined {
  if (exitCode === exitCodes.locked) return { hint: 'another process held the warehouse all the time' };
  return exitCode > 128 ? { hint: 'it was ended by a signal; the next run makes up for it' } : undefined;
}

/** Calls `tick` at every full minute of real time until it is told to stop. */
export function everyMinute(tick: () => void): { stop(): void } {
  // It would speak of itself on stdout; what matters is told by whoever ticks.
  const silent = () => undefined;
  setLogger({ info: silent, warn: silent, error: silent, debug: silent });
  // Slots are not its business: by the clocks of a zone with summer time it leaves some out.
  const task = scheduleCron('* * * * *', tick, { timezone: 'UTC', noOverlap: true });
  return { stop: () => void task.destroy() };
}

const cliFile = fileURLToPath(new URL('../cli.js', import.meta.url));

/** Starts `costbook run` in a process of its own. What it says is said here, but for stdout where that is not wanted. */
export function startRun(
  args: readonly string[],
  { env, isQuiet }: { readonly env: Readonly<Record<string, string | undefined>>; readonly isQuiet: boolean },
): StartedRun {
  const child = spawn(process.execPath, [cliFile, 'run', ...args], {
    env: { ...env },
    stdio: ['ignore', isQuiet ? 'ignore' : 'inherit', 'inherit'],
  });
  const ended = once(child, 'close').then(
    () => child.exitCode ?? 128 + constants.signals[child.signalCode ?? 'SIGKILL'],
    () => exitCodes.machine, // it could not be started
  );
  return { pid: child.pid, ended, kill: (signal) => void child.kill(signal) };
}
