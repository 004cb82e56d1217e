import { existsSync } from 'node:fs';
import { CostbookError, exitCodes, type Mistake, messageOf, UsageError } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import { usualFreshnessHours } from '../config/index.ts';
import {
  doneThroughOf,
  type Job,
  type JobReading,
  type JobState,
  nextSlot,
  openScheduler,
  readJobs,
  serveHealth,
  startRun,
} from '../jobs/index.ts';
import { metricsText } from '../metrics/index.ts';
import type { CommandInput } from '../options/read.ts';
import { read, reading } from '../options/read.ts';
import { commonOptions, options } from '../options/table.ts';
import { formatTable } from '../terminal/index.ts';
import { formatInstant, type Instant, isOlder } from '../time/time.ts';
import { type Books, openBooks, snapshotFile } from '../warehouse/integrity/index.ts';
import { type JobHistory, jobHistories, lastFetch } from '../warehouse/ledger/index.ts';
import { aborted } from './aborted.ts';
import type { Command, CommandContext } from './command.ts';
import { isNowGiven } from './common-options.ts';
import { startDashboard } from './dashboard.ts';
import { expectJobs, mistakesOf } from './job-mistakes.ts';

/** How long a run waits for another process that holds the warehouse, such as a manual run. */
const waitForOthers = '30m';
/** Ticks come every minute; after this long without one, /healthz fails. */
const tickOverdueMs = 3 * 60_000;

export const scheduleCommand: Command = {
  name: 'schedule',
  summary: 'Run jobs on their schedules, each run in its own process, until stopped.',
  examples: [
    'costbook schedule',
    'costbook schedule --serve',
    'costbook schedule --health-port 9464',
    'costbook schedule --list',
  ],
  staysUp: true,
  async run(input, context) {
    const { effects, timers, dir, env, signal } = context;
    const { values, isGiven, problem, check } = reading(options.schedule, input, context);
    const { healthPort, healthHost, serve: isServing, list: isList, ...address } = values;
    if (isGiven.healthHost && !isGiven.healthPort) problem('--health-host needs --health-port');
    for (const name of ['port', 'host'] as const) {
      if (!isServing && isGiven[name]) problem(`--${name} needs --serve`);
    }
    check();
    expectProject(context);
    const place = { dir, env, now: effects.now(), keepSecret: context.keepSecret, requirePing: !isList };
    const readings = readJobs(place);
    if (isList) return list(readings, context);
    const jobs = (await expectJobs(readings, context)).filter(({ isEnabled }) => isEnabled);
    if (jobs.length === 0) throw new UsageError('no job is enabled: set enabled: true in a file in jobs/');

    const clock = clockOf(input, context);
    const scheduler = openScheduler({
      jobs,
      doneThrough: doneThroughOf(await historiesOf(context)),
      now: clock.now,
      log: effects.log,
      start: (job, slot) =>
        startRun(runArguments(job, slot, clock, input, context), { env: childEnv(env), isQuiet: context.json }),
    });
    let tickedAt = Date.now();
    let isStopping = false;
    function tick(): void {
      tickedAt = Date.now();
      scheduler.tick();
    }
    const healthz = () =>
      Date.now() - tickedAt < tickOverdueMs ? undefined : `no tick since ${formatInstant(tickedAt)}`;
    const readyz = () => (isStopping ? 'stopping' : undefined);
    const metrics = async () => `${await metricsText(dir)}${gauges(scheduler.states())}`;
    const health =
      healthPort === undefined
        ? undefined
        : await serveHealth(
            { host: healthHost, port: healthPort },
            {
              '/healthz': async () => probeAnswer(healthz()),
              '/readyz': async () => probeAnswer(readyz()),
              '/metrics': async () => ({
                status: 200,
                type: 'text/plain; version=0.0.4; charset=utf-8',
                body: await metrics(),
              }),
            },
            context.redact,
          );
    const dashboard = isServing ? await startDashboard(address, context, { healthz, readyz, metrics }) : undefined;
    if (dashboard !== undefined)
      effects.log.info('dashboard.listening', 'Serving the dashboard', { url: dashboard.url });
    if (health !== undefined) effects.log.info('health.listening', 'Serving health checks', { url: health.url });
    for (const { job, next } of scheduler.states()) {
      effects.log.info('job.scheduled', 'Job scheduled', {
        job,
        next: next === undefined ? 'never' : formatInstant(next),
      });
    }
    const minutes = await timers.everyMinute(tick);
    try {
      tick(); // missed slots run now, not a minute later
      await aborted(signal);
    } finally {
      isStopping = true;
      minutes.stop();
      await scheduler.stop();
      await health?.close();
      await dashboard?.close();
    }
    throw signal.reason;
  },
};

function probeAnswer(problem: string | undefined): { status: number; body: string } {
  return problem === undefined ? { status: 200, body: 'ok\n' } : { status: 503, body: `${problem}\n` };
}

/** The current time: real time, or, with --now, time that continues from there. Runs receive it as --now. */
function clockOf(
  input: CommandInput,
  { effects, timers, env }: CommandContext,
): { now(): Instant; isShifted: boolean } {
  const isShifted = isNowGiven(input, { env });
  const [begun, at] = [timers.elapsed(), effects.now()];
  return { isShifted, now: isShifted ? () => at + Math.floor(timers.elapsed() - begun) : effects.now };
}

function runArguments(
  job: Job,
  slot: Instant,
  clock: ReturnType<typeof clockOf>,
  input: CommandInput,
  context: CommandContext,
): string[] {
  const { logFormat } = read(commonOptions, input, context);
  return [
    ...[job.name, '--slot', formatInstant(slot), '--wait', waitForOthers, '--dir', context.dir],
    ...(clock.isShifted ? ['--now', formatInstant(clock.now())] : []),
    ...(logFormat === undefined ? [] : ['--log-format', logFormat]),
  ];
}

function childEnv(env: CommandContext['env']): Record<string, string | undefined> {
  const { COSTBOOK_NOW: _, COSTBOOK_JSON: __, ...others } = env;
  return others;
}

/** The state of each job in the published books. */
async function historiesOf({ dir, effects, signal }: CommandContext): Promise<ReadonlyMap<string, JobHistory>> {
  if (!existsSync(snapshotFile(dir))) return new Map();
  let books: Books | undefined;
  try {
    books = await openBooks(dir, { lockedDown: true, signal });
    const fetch = await lastFetch(books.connection);
    if (isOlder(fetch.fetchedAt, effects.now(), usualFreshnessHours))
      effects.log.warn('runs.missing', 'No run has fetched costs for more than a day', { since: fetch.fetchedAt });
    return await jobHistories(books.connection);
  } catch (error) {
    if (!(error instanceof CostbookError) || signal.aborted) throw error;
    // Books of another version, or a damaged snapshot: the next run publishes it again, or alerts if it cannot.
    effects.log.warn('slots.unknown', 'Cannot tell which scheduled runs were missed', { reason: messageOf(error) });
    return new Map();
  } finally {
    books?.close();
  }
}

/** The scheduler's own gauges, in the text format of Prometheus. */
function gauges(states: readonly JobState[]): string {
  const metrics: readonly { name: string; help: string; value(state: JobState): number | undefined }[] = [
    {
      name: 'costbook_schedule_next_run_timestamp_seconds',
      help: 'Next time the job is due, in seconds since 1970.',
      value: ({ next }) => next && next / 1000,
    },
    {
      name: 'costbook_schedule_running',
      help: 'Whether the job is running now (1) or not (0).',
      value: ({ isRunning }) => Number(isRunning),
    },
    {
      name: 'costbook_schedule_last_exit_code',
      help: 'Exit code of the last run that this scheduler started.',
      value: ({ last }) => last?.exitCode,
    },
    {
      name: 'costbook_schedule_last_end_timestamp_seconds',
      help: 'End of the last run that this scheduler started, in seconds since 1970.',
      value: ({ last }) => last && last.endedAt / 1000,
    },
  ];
  return metrics
    .map(({ name, help, value }) => {
      const samples = states.flatMap((state) => {
        const number = value(state);
        return number === undefined ? [] : [`${name}{job_name="${state.job}"} ${number}\n`];
      });
      return samples.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`;
    })
    .join('');
}

/** Lists the valid jobs, and reports the mistakes in the others. */
async function list(readings: readonly JobReading[], context: CommandContext): Promise<number> {
  const jobs: Job[] = [];
  const mistakes: Mistake[] = [];
  for (const reading of readings) {
    const found = await mistakesOf(reading, context);
    mistakes.push(...found);
    if (found.length === 0 && reading.job !== undefined) jobs.push(reading.job);
  }
  const now = context.effects.now();
  const rows = jobs.map((job) => {
    const next = job.isEnabled ? nextSlot(job.timetable, job.zone, now) : undefined;
    return {
      job: job.name,
      schedule: job.schedule,
      timeZone: job.zone.name,
      enabled: job.isEnabled,
      next: next === undefined ? null : formatInstant(next),
      steps: job.steps.map(({ name }) => name),
      file: job.isBuiltIn ? '(comes with Costbook)' : job.file,
    };
  });
  if (context.json) await context.write(`${JSON.stringify(rows)}\n`);
  else {
    const columns = ['job', 'schedule', 'zone', 'next', 'steps', 'file'].map((name) => ({ name, type: 'VARCHAR' }));
    const cells = rows.map((row) => [
      row.job,
      row.schedule,
      row.timeZone,
      row.next ?? (row.enabled ? 'never' : 'not enabled'),
      row.steps.join(', '),
      row.file,
    ]);
    await context.write(
      `${formatTable(columns, cells, { ...context.layout, important: ['job', 'schedule', 'next', 'zone', 'steps'] })}\n`,
    );
  }
  // The valid jobs have been listed by now.
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return exitCodes.done;
}
