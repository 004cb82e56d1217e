import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { exitCodes, type Mistake, mistakesIn as mistakesOfError, UsageError } from '../base/errors.ts';
import { failuresOf } from '../base/failure.ts';
import { act, type NextStep, nextWords } from '../base/next-step.ts';
import { budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import { alertSinksOf, type LocalConfig } from '../config/index.ts';
import { readRates } from '../currency/index.ts';
import { alertKey, stepAfterRun } from '../findings/index.ts';
import type { JobFileFaults } from '../health/index.ts';
import { commandLineOf, inputOf, type Job, type JobReading, readJobs, type Step } from '../jobs/index.ts';
import { formatMonth, type Instant, parseMonth } from '../time/time.ts';
import type { Command, CommandContext } from './command.ts';

/** The command of each step, loaded when a step is checked or run. */
const stepCommands: Readonly<Record<Step['name'], () => Promise<Command>>> = {
  ingest: async () => (await import('./ingest.ts')).ingestCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  close: async () => (await import('./close.ts')).closeCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  statement: async () => (await import('./statement.ts')).statementCommand,
  summarize: async () => (await import('./summarize.ts')).summarizeCommand,
  subscriptions: async () => (await import('./subscriptions.ts')).subscriptionsCommand,
  alert: async () => (await import('./alert.ts')).alertCommand,
};

export function stepCommand(name: Step['name']): Promise<Command> {
  return stepCommands[name]();
}

/** The jobs of all files. Throws UsageError that lists every mistake in every file. */
export async function expectJobs(readings: readonly JobReading[], context: CommandContext): Promise<readonly Job[]> {
  const problems: Mistake[] = [];
  for (const reading of readings) problems.push(...(await mistakesOf(reading, context)));
  if (problems.length > 0) throw new UsageError(problems);
  return readings.flatMap(({ job }) => job ?? []);
}

/**
 * The mistakes in a job's file, in the file's order, including options that the steps' commands reject.
 * Does not read the books, so anything that depends on them is not checked.
 */
export async function mistakesOf(
  { file, steps, problems }: Pick<JobReading, 'file' | 'steps' | 'problems'>,
  context: CommandContext,
): Promise<readonly Mistake[]> {
  const mistakes = new Map(problems.map((problem) => [problem.found, problem]));
  for (const step of steps.map((each) => withMonth(each, context.effects.now()))) {
    try {
      const command = await stepCommand(step.name);
      await command.check?.(inputOf(step), context);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const ofStep = (found: string) => `${step.where ?? file}: ${found} (step "${commandLineOf(step)}")`;
      for (const mistake of mistakesOfError(error)) {
        // A mistake of the configuration has its own place, and may stop several steps.
        const own = mistake.line === undefined ? { found: ofStep(mistake.found), file, line: step.line } : mistake;
        if (!mistakes.has(own.found)) mistakes.set(own.found, own);
      }
    }
  }
  const lineIn = (mistake: Mistake) =>
    mistake.file === file ? (mistake.line ?? Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER;
  return [...mistakes.values()].sort((one, other) => lineIn(one) - lineIn(other));
}

/** The step with `last` replaced by its month. */
export function withMonth(step: Step, now: Instant): Step {
  if (step.name !== 'close' || step.options['month'] !== 'last') return step;
  return { ...step, options: { ...step.options, month: formatMonth(parseMonth('last', 'month', now).start) } };
}

/**
 * The purposes of the project's files that have mistakes: jobs, budgets, allocation rules, the rates of the second currency.
 * Empty if all are valid.
 */
export async function faultsOfJobFiles(
  { sinks, currency }: Pick<LocalConfig, 'sinks' | 'currency'>,
  context: CommandContext,
): Promise<readonly JobFileFaults[]> {
  const { dir, env, effects, keepSecret } = context;
  const now = effects.now();
  const jobs: Mistake[] = [];
  const stopped: string[] = [];
  // The configuration was read before. Nothing else of a project can make a built-in job wrong but SQL of its own.
  const onlyOwn = !existsSync(join(dir, 'sql'));
  for (const reading of readJobs({ dir, env, now, keepSecret, requirePing: false, onlyOwn })) {
    const mistakes = await mistakesOf(reading, context);
    if (mistakes.length > 0) stopped.push(reading.name);
    jobs.push(...mistakes);
  }
  const again = stopped.map((name) => `"costbook run ${name}"`).join(' and ');
  const ofJobs = {
    error: jobs.length === 0 ? undefined : new UsageError(jobs),
    effect: `${again} and "costbook schedule" do not start`,
    step: act('correct the file. "costbook schedule --list" shows whether it is right.'),
  };
  const budgets = mistakesIn(() => loadBudgets(budgetsFile(dir), { now, sinks: alertSinksOf(sinks) }));
  const ofBudgets = {
    error: budgets,
    effect: 'budgets are not evaluated',
    step: stepOfAlert(budgets),
    alert: alertKey,
  };
  const ofAllocation = {
    error: mistakesIn(() => loadAllocation(allocationFile(dir))),
    effect: 'the rules that were applied before stay',
    step: act('correct the file, then run "costbook allocation test".', 'allocation test'),
  };
  const rates = mistakesIn(() => currency && readRates(currency, dir));
  const ofRates = {
    ...{ error: rates, step: stepOfAlert(rates), alert: alertKey },
    effect: `there are no amounts in ${currency?.code}, the second currency; amounts in USD are right`,
  };
  return Object.entries({ jobs: ofJobs, budgets: ofBudgets, allocation: ofAllocation, currency: ofRates }).flatMap(
    ([subject, faults]) => {
      const { error, effect, step } = faults;
      if (error === undefined) return [];
      const mistakes = error.mistakes.map(({ found }) => found);
      return [
        { subject, mistakes, effect, step, next: nextWords(step), alert: 'alert' in faults ? faults.alert : null },
      ];
    },
  );
}

/** The step that the alert about mistakes has. */
function stepOfAlert(error: UsageError | undefined): NextStep {
  const failures = error === undefined ? [] : failuresOf(error);
  return stepAfterRun({ command: 'alert', outcome: 'failed', exitCode: exitCodes.usage, failures });
}

/** The mistakes that reading finds; undefined if there are none. */
function mistakesIn(read: () => unknown): UsageError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error;
  }
}
