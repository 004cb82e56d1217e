import { CostbookError } from '../errors.ts';
import { askToStream } from '../query/index.ts';
import { BusyError, openLimiter } from './limiter.ts';

/** How a child process is limited. */
export interface WorkLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  write(chunk: string | Uint8Array): Promise<void>;
}

/** The commands that forecast: seconds of calculation, in which their process does nothing else. */
export type ForecastCommand = 'budgets' | 'forecast';
export type CommandOptions = Readonly<Record<string, string | true | readonly string[]>>;

/** The commands that run the project's SQL or calculate for long; each writes one JSON value. */
export interface ProjectCommands {
  reportRows(
    report: { readonly name: string; readonly parameters: Readonly<Record<string, string>>; readonly maxRows: number },
    limits: WorkLimits,
  ): Promise<void>;
  budgetBacktest(budget: { readonly name: string; readonly days: number }, limits: WorkLimits): Promise<void>;
  /** `costbook budgets --json` or `costbook forecast --json`. */
  show(name: ForecastCommand, options: CommandOptions, limits: WorkLimits): Promise<void>;
}

/**
 * Work in locked-down child processes: at most two at once, others wait for a while. A signal of a request ends the work
 * when the client is gone.
 */
export interface ChildWork {
  /** One SELECT that a person typed, as `costbook sql` runs it. */
  sql(query: string, maxRows: number, signal: AbortSignal): Promise<TableAnswer>;
  reportRows(
    name: string,
    parameters: Readonly<Record<string, string>>,
    maxRows: number,
    signal: AbortSignal,
  ): Promise<TableAnswer & { readonly warnings: readonly string[] }>;
  budgetBacktest(name: string, days: number, signal: AbortSignal): Promise<unknown>;
  show(name: ForecastCommand, options: CommandOptions, signal: AbortSignal): Promise<unknown>;
}

/** Rows as JSON: decimals are text, so that they stay exact. */
export interface TableAnswer {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Whether there are more rows. */
  readonly truncated: boolean;
}

/** A child process and DuckDB in it use a core each. */
const atOnce = 2;
const maxWaiting = 20;
const maxWaitMs = 20_000;
const timeoutMs = 30_000;
/** A back-test forecasts every day of its range. */
const backtestMs = 120_000;
/** How long a page may wait for a child process, with its turn, in milliseconds. */
export const childWorkMs = { query: maxWaitMs + timeoutMs, backtest: maxWaitMs + backtestMs } as const;
const maxAnswerBytes = 8 * 1024 * 1024;

export function childWork(dir: string, commands: ProjectCommands, signal: AbortSignal): ChildWork {
  const limited = openLimiter({
    ...{ atOnce, maxWaiting, maxWaitMs },
    busy: `other queries are running (at most ${atOnce} at once). Try again in a minute`,
  });
  async function answer<T>(
    run: (limits: WorkLimits) => Promise<unknown>,
    { limitMs = timeoutMs, request }: { readonly limitMs?: number; readonly request: AbortSignal },
  ): Promise<T> {
    return limited(async () => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      await run({
        timeoutMs: limitMs,
        signal: AbortSignal.any([signal, request]),
        async write(chunk) {
          chunks.push(Buffer.from(chunk));
          bytes += chunk.length;
          if (bytes > maxAnswerBytes) {
            throw new TooLargeError('the answer is larger than 8 MB: select fewer rows or columns');
          }
        },
      });
      return JSON.parse(Buffer.concat(chunks).toString('utf8')) as T;
    }, request);
  }
  return {
    sql: (query, maxRows, request) =>
      answer((limits) => askToStream({ dir, sql: query, asOf: null, format: 'json', raw: false, maxRows }, limits), {
        request,
      }),
    reportRows: (name, parameters, maxRows, request) =>
      answer((limits) => commands.reportRows({ name, parameters, maxRows }, limits), { request }),
    budgetBacktest: (name, days, request) =>
      answer((limits) => commands.budgetBacktest({ name, days }, limits), { limitMs: backtestMs, request }),
    show: (name, options, request) =>
      answer((limits) => commands.show(name, options, limits), { limitMs: backtestMs, request }),
  };
}

/** Why there is no answer, and the status for it. Throws the signal's reason, and errors that no viewer can do anything about. */
export function refusal(error: unknown, signal: AbortSignal): { readonly words: string; readonly status: 400 | 503 } {
  signal.throwIfAborted();
  if (!(error instanceof CostbookError)) throw error;
  const words = error.message.replace(', or raise --timeout', ', or use the command line with --timeout');
  return { words, status: error instanceof BusyError ? 503 : 400 };
}

class TooLargeError extends CostbookError {
  override readonly exitCode = 2;
}
