import { UsageError } from '../base/errors.ts';
import { loadConfig } from '../config/index.ts';
import { type SparkStatement, withClusterAnswer } from '../engine/index.ts';
import type { CommandInput } from '../options/read.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { monthsOfRange } from '../reports/questions/index.ts';
import type { CommandContext } from './command.ts';
import { runInChild } from './run-in-child.ts';

interface Limits {
  readonly subject: string;
  readonly timeoutMs: number;
  /** A folder that the answer is written to, besides those of the project. */
  readonly out?: string | undefined;
}

/** Runs a statement on the configured cluster and calls `use` with the file of its rows. */
export async function onCluster<T>(
  context: CommandContext,
  statement: SparkStatement,
  { subject, timeoutMs }: Limits,
  use: (rowsFile: string) => Promise<T>,
): Promise<T> {
  const { dir, env, signal } = context;
  context.progress('waiting for the cluster');
  const onProgress = (words: string): void => context.progress(words);
  return withClusterAnswer(
    statement,
    { settings: settingsOf(context), dir, env, subject, timeoutMs, signal, onProgress },
    use,
  );
}

/** The settings of the cluster. Throws UsageError if there are none. */
export function settingsOf({ dir, env, effects }: Pick<CommandContext, 'dir' | 'env' | 'effects'>) {
  const { engine } = loadConfig({ dir, env, now: effects.now(), requireAccounts: false });
  if (engine !== undefined) return engine;
  throw new UsageError(
    '--engine spark: costbook.yaml has no "engine"; write the command of the cluster, such as ' +
      'engine: { command: [spark-sql, --master, "spark://spark.example.com:7077", -f, "{file}"] }',
  );
}

/**
 * Runs a report on the cluster: one child process writes the statement, the cluster runs it, and another one reads the rows
 * and publishes them as those of DuckDB. Returns the exit code.
 */
export async function reportOnCluster(input: CommandInput, context: CommandContext, limits: Limits): Promise<number> {
  const { month } = read(options.report, input, context);
  if (month !== undefined && monthsOfRange(month, '--month', context.effects.now()) !== undefined) {
    throw new UsageError(`--month: found the range ${month}, expected one month with --engine`);
  }
  const { lake } = settingsOf(context);
  let text = '';
  const asked = { ...input, options: { ...input.options, engineLake: lake } };
  const write = async (piece: string | Uint8Array): Promise<void> => {
    text += Buffer.from(piece).toString();
  };
  const { signal } = context;
  await runInChild('report-statement', asked, context, { ...limits, signal, write });
  return onCluster(context, JSON.parse(text) as SparkStatement, limits, (rowsFile) => {
    const answered = { ...asked, options: { ...asked.options, engineRows: rowsFile } };
    return runInChild('report', answered, context, { ...limits, signal, write: (piece) => context.write(piece) });
  });
}
