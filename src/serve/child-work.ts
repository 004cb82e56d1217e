import { CostbookError } from '../base/errors.ts';
import { askRows, type TableAnswer } from '../query/index.ts';
import type { CurrencyOfAnswer } from '../reports/formats/index.ts';
import { BusyError, openLimiter } from './limiter.ts';

/** How a child process is limited. */
export interface WorkLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** How a person allows more time. */
  readonly allowsMore: string;
}

/** The commands that forecast: seconds of calculation, in which their process does nothing else. */
export type ForecastCommand = 'budgets' | 'forecast';
export type CommandOptions = Readonly<Record<string, string | true | readonly string[]>>;

/** The commands that run the project's SQL or calculate for long. */
export interface ProjectCommands {
  reportRows(report: RowsOfReport & { readonly name: string }, limits: WorkLimits): Promise<ReportRows>;
  budgetBacktest(budget: { readonly name: string; readonly days: number }, limits: WorkLimits): Promise<unknown>;
  /** `costbook budgets --json` or `costbook forecast --json`. */
  show(name: ForecastCommand, options: CommandOptions, limits: WorkLimits): Promise<unknown>;
}

/**
 * Work in locked-down child processes: at most two at once, others wait for a while. A signal of a request ends the work
 * when the client is gone.
 */
export interface ChildWork {
  /** One SELECT that a person typed, as `costbook sql` runs it. */
  sql(
    query: string,
    rows: { readonly maxRows: number; readonly sort?: string },
    signal: AbortSignal,
  ): Promise<TableAnswer>;
  reportRows(name: string, asked: RowsOfReport, signal: AbortSignal): Promise<ReportRows>;
  budgetBacktest(name: string, days: number, signal: AbortSignal): Promise<unknown>;
  show(name: ForecastCommand, options: CommandOptions, signal: AbortSignal): Promise<unknown>;
}

/** Which rows of a report are wanted, and whether their sums as well. */
interface RowsOfReport {
  readonly parameters: Readonly<Record<string, string>>;
  readonly maxRows: number;
  readonly hasTotals?: boolean;
  /** The column to sort by, as an address names it. */
  readonly sort?: string;
}

/** The first rows of a report, and how a screen shows them. */
export type ReportRows = TableAnswer & Screen & { readonly warnings: readonly string[] };

/** How a screen shows an answer, as far as its report says so. */
export interface Screen {
  /** The columns by importance. */
  readonly important?: readonly string[];
  /** The sums of columns over all rows. */
  readonly totals?: Readonly<Record<string, string | null>>;
  readonly currency?: CurrencyOfAnswer;
}

const allowsMore = 'use the command line with --timeout';
/** A child process and DuckDB in it use a core each. */
const atOnce = 2;
const maxWaiting = 20;
const maxWaitMs = 20_000;
const timeoutMs = 30_000;
/** A back-test forecasts every day of its range. */
const backtestMs = 120_000;
/** How long a page may wait for a child process, with its turn, in milliseconds. */
export const childWorkMs = { query: maxWaitMs + timeoutMs, backtest: maxWaitMs + backtestMs } as const;

export function childWork(dir: string, commands: ProjectCommands, signal: AbortSignal): ChildWork {
  const limited = openLimiter({
    ...{ atOnce, maxWaiting, maxWaitMs },
    busy: `other queries are running (at most ${atOnce} at once). Try again in a minute`,
  });
  function answer<T>(
    run: (limits: WorkLimits) => Promise<T>,
    { limitMs = timeoutMs, request }: { readonly limitMs?: number; readonly request: AbortSignal },
  ): Promise<T> {
    return limited(() => run({ timeoutMs: limitMs, signal: AbortSignal.any([signal, request]), allowsMore }), request);
  }
  return {
    sql: (query, rows, request) => answer((limits) => askRows({ dir, sql: query, ...rows }, limits), { request }),
    reportRows: (name, asked, request) =>
      answer((limits) => commands.reportRows({ ...asked, name }, limits), { request }),
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
  return { words: error.message, status: error instanceof BusyError ? 503 : 400 };
}
