import { existsSync } from 'node:fs';
import { alertWithoutBooks } from '../alerts/index.ts';
import {
  exitCodeOf,
  exitCodes,
  isForRepair,
  MachineError,
  messageOf,
  UsageError,
  wordsOf,
  worstExitCode,
} from '../base/errors.ts';
import { type Failure, failuresOf, nextOfFirst, redactedFailures, textOf } from '../base/failure.ts';
import { act } from '../base/next-step.ts';
import { expectProject } from '../base/project-folder.ts';
import { loadReadable } from '../config/index.ts';
import {
  commandLineOf,
  farAheadMs,
  inputOf,
  type Job,
  lastSlots,
  nextSlot,
  outcomeOf,
  readNamedJob,
  runSteps,
  type Step,
  type StepName,
  type StepResult,
  stepRules,
} from '../jobs/index.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { type Outcome, openEnd, openForRun, withStepOfRun } from '../runs/index.ts';
import { sendPing } from '../sinks/index.ts';
import { formatTable } from '../terminal/index.ts';
import { describeSpan, formatInstant, type Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { snapshotFile } from '../warehouse/integrity/index.ts';
import type { CheckResult } from '../warehouse/ledger/index.ts';
import type { Command, CommandContext } from './command.ts';
import { mistakesOf, stepCommand, withMonth } from './job-mistakes.ts';

/** Steps after which the results of earlier checks say nothing about the books. */
const changesBooks: readonly StepName[] = ['ingest', 'close'];

/** At most this many missed slots get a row, the newest first. */
const maxMissedRows = 100;

export const runCommand: Command = {
  name: 'run',
  tellsMistakes: true,
  summary: 'Run a job once: all its steps, in order. Each step is recorded in the books.',
  arguments: [
    { name: '<job>', summary: 'the job: the name of a file in jobs/, or nightly, hourly_watch or month_close' },
  ],
  examples: [
    'costbook run nightly',
    'costbook run nightly --only ingest,alert --wait 10m',
    'costbook run month_close --dry-run',
  ],
  async run(input, context) {
    const now = context.effects.now();
    const { values, problem, check } = reading(options.run, input, context);
    const { only, dryRun: isDry, slot, wait: waitMs } = values;
    expectProject(context);
    const file = readNamedJob(input.arguments[0] ?? '', {
      ...{ dir: context.dir, env: context.env, now, keepSecret: context.keepSecret },
      requirePing: !isDry,
    });
    const { job } = file;
    const stepsOfJob = [...new Set((job?.steps ?? []).map((step) => step.name))];
    for (const name of job === undefined ? [] : (only ?? []).filter((name) => !stepsOfJob.includes(name))) {
      problem(`--only: the job ${file.name} has no step ${name}; expected one of ${stepsOfJob.join(', ')}`);
    }
    for (const mistake of await mistakesOf(file, context)) problem(mistake);
    check();
    if (job === undefined) throw new UsageError(`${file.file}: not a valid job, for an unknown reason`);
    const steps = job.steps
      .filter(({ name }) => name !== 'subscriptions' || only?.includes(name) || hasSubscriptions(context))
      .filter(({ name }) => (context.mistakes === undefined ? (only?.includes(name) ?? true) : name === 'alert'))
      .map((step) => withMonth(step, now));
    if (context.mistakes !== undefined && (isDry || steps.length === 0)) throw context.mistakes;
    if (isDry) return showOnly(job, steps, context);
    return pinged(job, context, () => alertingWithoutBooks({ job, steps, slot, waitMs, context }));
  },
};

/** Whether a project has subscriptions: a step that has nothing to do is none, and is never left out because of others. */
function hasSubscriptions({ dir, env, effects }: CommandContext): boolean {
  const { subscriptions } = loadReadable({ dir, env, now: effects.now(), requireAccounts: false }).config;
  return subscriptions === undefined || subscriptions.length > 0;
}

/** Pings the configured addresses when a run starts and ends; a failed ping is only a warning. */
async function pinged(job: Job, context: CommandContext, run: () => Promise<number>): Promise<number> {
  async function ping(what: 'start' | 'success' | 'fail', exitCode?: number): Promise<void> {
    const url = job.ping?.[what];
    if (url === undefined) return;
    const reason = await sendPing({
      ...{ url, allowPrivateNetwork: job.ping?.allowPrivateNetwork ?? false },
      body: { job: job.name, event: what, exitCode: exitCode ?? null },
    });
    if (reason !== undefined) context.tell(`warning: the ${what} ping of ${job.name} failed: ${reason}`);
  }
  await ping('start');
  try {
    const exitCode = await run();
    await ping(exitCode === exitCodes.done ? 'success' : 'fail', exitCode);
    return exitCode;
  } catch (error) {
    await ping('fail', exitCodeOf(error));
    throw error;
  }
}

interface JobRun {
  readonly job: Job;
  readonly steps: readonly Step[];
  readonly slot: Instant | undefined;
  readonly waitMs: number;
  readonly context: CommandContext;
}

/** Called with what failed, and with the error of the books that prevents storing alerts. */
type OnFailure = (failures: readonly Failure[], ofBooks: unknown) => Promise<void>;

/** Runs a job. If the books cannot store its failure and the job alerts, notifies the sinks without the books. */
async function alertingWithoutBooks(asked: JobRun): Promise<number> {
  const { job, context } = asked;
  async function alert(failures: readonly Failure[], ofBooks: unknown): Promise<void> {
    if (alerts(asked))
      await alertWithoutBooks(startedAs(job), failures, context, isForRepair(ofBooks) ? ofBooks : undefined);
  }
  try {
    return await runJob(asked, alert);
  } catch (error) {
    await alert(failuresOf(error), error);
    throw error;
  }
}

function alerts({ steps }: JobRun): boolean {
  return steps.some(({ name }) => name === 'alert');
}

async function runJob(asked: JobRun, onFailure: OnFailure): Promise<number> {
  const { job, waitMs, context } = asked;
  const timeout = new AbortController();
  // The run's timeout also stops stages and copies.
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  const what = { command: 'run', job: job.name };
  const warehouse = await openForRun(what, waitMs, { ...context, signal }, { notifies: alerts(asked) });
  // Waiting for another process does not count.
  let timer: NodeJS.Timeout | undefined;
  try {
    const usualMs = (await warehouse.jobHistories()).get(job.name)?.lastDoneMs;
    if (job.timeoutMs !== undefined)
      timer = setTimeout(() => timeout.abort(tooLong(job, usualMs)), job.timeoutMs).unref();
    return await runUnderLock(asked, warehouse, timeout.signal, onFailure);
  } finally {
    clearTimeout(timer);
    warehouse.close();
  }
}

/** `usualMs`: how long the last run that succeeded took. */
function tooLong(
  { name, timeoutMs = 0, timeoutLine, file, isBuiltIn }: Job,
  usualMs: number | undefined,
): MachineError {
  const own = `jobs/${name}.yaml`;
  const copy = isBuiltIn ? `put ${file} into jobs/ of the project, then ` : '';
  const line = timeoutLine === undefined ? '' : `, line ${timeoutLine}`;
  const found = usualMs ? ` The last run that succeeded took ${describeSpan(usualMs)}.` : '';
  return new MachineError(
    `the run of ${name} exceeded its timeout of ${describeSpan(timeoutMs)}. Loaded windows stay.${found}`,
    {
      code: 'job_timeout',
      next: act(
        `${copy}set a longer timeout in ${own}${line}. Then run "costbook run ${name}" again: it continues from there.`,
        `run ${name}`,
      ),
    },
  );
}

async function runUnderLock(
  { job, steps, slot, context }: JobRun,
  warehouse: Warehouse,
  timeout: AbortSignal,
  onFailure: OnFailure,
): Promise<number> {
  const { effects } = context;
  if (slot !== undefined && !(await claimSlot(job, slot, warehouse, context))) {
    context.tell(`${job.name} has already run for ${formatInstant(slot)}: nothing to do`);
    if (context.json)
      await context.write(`${JSON.stringify({ run: null, job: job.name, slot: formatInstant(slot), steps: [] })}\n`);
    return exitCodes.done;
  }
  const run = await warehouse.beginJob(job.name, slot, effects.now());
  const end = openEnd(run, { command: 'run', job: job.name }, warehouse, context);
  let results: readonly StepResult[];
  let spends: Outcome['spends'];
  let checksFound: readonly CheckResult[] | undefined;
  let ofBooks: unknown;
  try {
    results = await runSteps({
      steps,
      runNumber: run.number,
      ledger: redactedLedger(warehouse, context),
      perform: (step, { signal, count, explain }) => {
        if (changesBooks.includes(step.name)) checksFound = undefined;
        return perform(job, step, {
          ...context,
          signal,
          count,
          run: {
            warehouse,
            runNumber: run.number,
            startedAs: startedAs(job),
            isLast: step === steps.at(-1),
            explain,
            keepSpends: (found) => {
              spends = found;
            },
            keepChecks: (found) => {
              checksFound = found;
            },
            checksFound: () => checksFound,
          },
        }).catch((error: unknown) => {
          // Failures before the alerts are stored with them.
          if (step.name === 'alert' && isForRepair(error)) ofBooks = error;
          throw error;
        });
      },
      signal: context.signal,
      timeout,
      now: effects.now,
      elapsed: () => performance.now(),
      log: effects.log,
    });
  } catch (error) {
    await end({ exitCode: exitCodeOf(error), failures: failuresOf(error) }).catch((further: unknown) =>
      effects.log.warn('snapshot.failed', 'Could not publish the failed run', { reason: messageOf(further) }),
    );
    throw error;
  }
  const outcome = outcomeOf(results, context.signal);
  if (outcome.failures.length > 0) await onFailure(outcome.failures, ofBooks);
  await end({ ...outcome, spends });
  await answer({ job, slot, runNumber: run.number, ...outcome, results }, context);
  return worstExitCode([outcome.exitCode]);
}

/** Errors quote the platform's answers, which may contain a token. */
function redactedLedger(warehouse: Warehouse, { redact }: CommandContext): Pick<Warehouse, 'stepBegan' | 'stepEnded'> {
  return {
    stepBegan: (begun) => warehouse.stepBegan(begun),
    stepEnded: (end) => warehouse.stepEnded({ ...end, failures: redactedFailures(end.failures, redact) }),
  };
}

/** Records earlier slots that were missed; returns false if this slot was already run. */
async function claimSlot(job: Job, slot: Instant, warehouse: Warehouse, { effects }: CommandContext): Promise<boolean> {
  const history = (await warehouse.jobHistories()).get(job.name);
  if (history === undefined) return true;
  const { doneThrough, interrupted } = history;
  // Slots in the future, run by a fast clock, must run again when they are due.
  if (doneThrough !== undefined && doneThrough > Math.max(slot, effects.now()) + farAheadMs) return true;
  if (doneThrough !== undefined && doneThrough >= slot) return false;
  const after = doneThrough ?? interrupted[0];
  if (after === undefined) return true;
  const { slots, isCut } = lastSlots(job.timetable, job.zone, { after, through: slot - 1, limit: maxMissedRows });
  const missed = slots.filter((candidate) => !interrupted.includes(candidate));
  if (missed.length === 0) return true;
  const more = isCut ? `, nor for more slots before ${formatInstant(missed[0] ?? slot)}, which are not listed` : '';
  effects.log.warn('slots.missed', 'Scheduled runs were missed', {
    job: job.name,
    slots: missed.map(formatInstant),
    more: isCut,
  });
  await warehouse.missed(
    job.name,
    missed,
    `no run for this slot reached the books${more}; the run for ${formatInstant(slot)} catches up`,
    effects.now(),
  );
  return true;
}

/** Runs the command of a step within the run. */
async function perform(job: Job, step: Step, context: CommandContext): Promise<number> {
  const input = inputOf(step);
  const line = commandLineOf(step);
  context.progress(line);
  if (!context.json) await context.write(`── ${line}\n`);
  try {
    const command = await stepCommand(step.name);
    return await command.run(input, {
      ...context,
      progress: (words) => context.progress(words === '' ? line : `${line}: ${words}`),
      // With --json only the run's own answer is printed.
      json: false,
      write: context.json ? async () => undefined : context.write,
    });
  } catch (error) {
    // A signal ends the run and says so; its timeout has a next step.
    const isEnded = context.signal.aborted && exitCodeOf(context.signal.reason) > 128;
    // A later step reads what is published: on the first night there is nothing yet.
    if (!existsSync(snapshotFile(context.dir))) await context.run?.warehouse.publish();
    if (exitCodeOf(error) !== exitCodes.bug && !isEnded)
      for (const words of wordsOf(await withStepOfRun(error, startedAs(job)))) context.tell(words);
    throw error;
  }
}

/** The run as its user started it, which the next step after a failed step names. */
function startedAs({ name }: Job): string {
  return `run ${name}`;
}

interface Answer {
  readonly job: Job;
  readonly slot: Instant | undefined;
  readonly runNumber: number;
  readonly exitCode: number;
  readonly failures: readonly Failure[];
  readonly results: readonly StepResult[];
}

async function answer(
  { job, slot, runNumber, exitCode, failures, results }: Answer,
  context: CommandContext,
): Promise<void> {
  if (context.json) {
    const steps = results.map((result) => ({
      ...result,
      seconds: result.seconds.toFixed(3),
      exitCode: result.exitCode ?? null,
      error: textOf(result.failures),
      errorCode: result.failures[0]?.code ?? null,
      nextStep: nextOfFirst(result.failures),
      figures: result.figures ?? null,
    }));
    const value = {
      ...{ run: runNumber, job: job.name, slot: slot === undefined ? null : formatInstant(slot) },
      ...{ exitCode, error: textOf(failures), steps },
    };
    await context.write(`${context.redact(JSON.stringify(value))}\n`);
    return;
  }
  const columns = ['step', 'outcome', 'seconds', ''].map((name) => ({
    name,
    type: name === 'seconds' ? 'DECIMAL' : 'VARCHAR',
  }));
  const cells = results.map(({ commandLine, outcome, seconds, figures, failures: [first] }) => [
    commandLine,
    outcome.replace('_', ' '),
    outcome === 'left_out' ? '' : seconds.toFixed(1),
    // Before it is cut: half a secret would not be recognized.
    (first && context.redact(first.found)) ??
      Object.entries(figures ?? {})
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
  ]);
  const table = formatTable(columns, cells, context.layout);
  const words = exitCode === exitCodes.done ? 'succeeded' : `ended with exit code ${exitCode}`;
  await context.write(context.redact(`── run ${runNumber} of ${job.name} ${words}\n${table}\n`));
}

/** Prints the steps of a run; does nothing. */
async function showOnly(job: Job, steps: readonly Step[], context: CommandContext): Promise<number> {
  const next = nextSlot(job.timetable, job.zone, context.effects.now());
  const value = {
    job: job.name,
    file: job.file,
    schedule: job.schedule,
    timeZone: job.zone.name,
    enabled: job.isEnabled,
    next: next === undefined ? null : formatInstant(next),
    timeoutSeconds: job.timeoutMs === undefined ? null : job.timeoutMs / 1000,
    catchUp: job.catchUp,
    steps: steps.map((step, index) => ({
      step: step.name,
      commandLine: commandLineOf(step),
      needs: [...new Set(steps.slice(0, index).map(({ name }) => name))].filter((name) =>
        stepRules[step.name].needs.includes(name),
      ),
    })),
  };
  if (context.json) {
    await context.write(`${JSON.stringify(value)}\n`);
    return exitCodes.done;
  }
  const lines = value.steps.map(
    ({ commandLine, needs }, index) =>
      `  ${index + 1}. costbook ${commandLine}${needs.length === 0 ? '' : `   (if ${needs.join(' and ')} succeeded)`}`,
  );
  const when = `${job.schedule} ${value.timeZone}${job.isEnabled ? '' : ', not enabled'}, next ${value.next ?? 'never'}`;
  await context.write(`${job.name} (${job.file}; ${when})\n${lines.join('\n')}\n`);
  return exitCodes.done;
}
