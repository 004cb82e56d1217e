import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { allocationFile, loadAllocation } from '../allocation/index.ts';
import { type Mistake, mistakesIn, UsageError } from '../base/errors.ts';
import { act, nextWords } from '../base/next-step.ts';
import { budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import { alertSinksOf, type LocalConfig } from '../config/index.ts';
import { alertKey } from '../findings/index.ts';
import { commandLineOf, type Job, type JobReading, readJobs, type Step, stepRules } from '../jobs/index.ts';
import type { CommandInput } from '../options/read.ts';
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
      for (const mistake of mistakesIn(error)) {
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

/** The command input of a step. */
export function inputOf({ name, options }: Step): CommandInput {
  const { argument } = stepRules[name];
  if (argument === undefined) return { arguments: [], options };
  const { [argument.key]: value, ...others } = options;
  return { arguments: [String(value)], options: others };
}

/** The step with `last` replaced by its month. */
export function withMonth(step: Step, now: Instant): Step {
  if (step.name !== 'close' || step.options['month'] !== 'last') return step;
  return { ...step, options: { ...step.options, month: formatMonth(parseMonth('last', 'month', now).start) } };
}

/** The mistakes of the files of one purpose in jobs/, what they stop, and the next step. */
export interface JobFileFaults {
  /** One per line: file, line and column, what was found and expected. */
  readonly mistakes: readonly string[];
  readonly effect: string;
  /** `Act: correct the file, …` */
  readonly next: string;
  /** The key of the alert about them; null if there is none. */
  readonly alert: string | null;
}

/** The purposes of the files in jobs/ that have mistakes: jobs, budgets, allocation rules. Empty if all are valid. */
export async function faultsOfJobFiles(
  { sinks }: Pick<LocalConfig, 'sinks'>,
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
  return [
    {
      mistakes: jobs.map(({ found }) => found),
      effect: `${again} and "costbook schedule" do not start`,
      next: nextWords(act('correct the file, then run "costbook doctor".')),
      alert: null,
    },
    {
      mistakes: linesOf(() => loadBudgets(budgetsFile(dir), { now, sinks: alertSinksOf(sinks) })),
      effect: 'budgets are not evaluated',
      next: nextWords(act('correct the file, then run "costbook alert".')),
      alert: alertKey,
    },
    {
      mistakes: linesOf(() => loadAllocation(allocationFile(dir))),
      effect: 'the rules that were applied before stay',
      next: nextWords(act('correct the file, then run "costbook allocation test".')),
      alert: null,
    },
  ].filter(({ mistakes }) => mistakes.length > 0);
}

function linesOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return mistakesIn(error).map(({ found }) => found);
  }
}
