import { anomaliesToJson, backtestAnomalies, describeAnomalies, loadAnomalyRules } from '../anomalies/index.ts';
import { exitCodes, UsageError } from '../base/errors.ts';
import { readForecasts } from '../budgets/forecasts/index.ts';
import type { Budget } from '../budgets/rules/index.ts';
import { backtestBudget, backtestToJson, describeBacktest } from '../budgets/show/index.ts';
import { namesNotFound, withCarried } from '../budgets/spend/index.ts';
import { alertSinksOf, holidaysOf, loadConfig } from '../config/index.ts';
import { type CommandInput, read, reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { nearest } from '../text/choices.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { budgetsAsked, fileAsked } from './budgets-asked.ts';
import type { BooksContext } from './context.ts';

/** Shows which notifications the anomaly rules would have sent, and when. */
export async function backtestAnomalyRules(input: CommandInput, context: BooksContext): Promise<number> {
  const now = context.effects.now();
  const asked = reading(options.budgets, input, context);
  if (input.arguments[1] !== undefined) asked.problem('--anomalies applies to no single budget: leave out the name');
  asked.check();
  const { file, lookback: overMs } = asked.values;
  const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
  const given = loadAnomalyRules(fileAsked(file, context), alertSinksOf(config.sinks));
  const rules = { ...given, holidays: holidaysOf(config.calendar, context.dir) };
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async (books) => {
    const period = { from: now - overMs, now, lagHours: config.lagHours };
    const replay = await backtestAnomalies(books.connection, rules, period);
    const state = await completenessOf(books.connection);
    await context.answer(
      anomaliesToJson(replay, rules, state, now),
      () => `${describeAnomalies(replay, rules, now, context.layout)}\n${describeCompleteness(state)}\n`,
    );
    return exitCodes.done;
  });
}

/** Shows which notifications a budget's thresholds would have sent, and when. */
export async function backtestOne(input: CommandInput, context: BooksContext): Promise<number> {
  const now = context.effects.now();
  const { file, lookback: overMs } = read(options.budgets, input, context);
  const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
  const named = budgetNamed(input.arguments[1], budgetsAsked(file, config, context));
  const holidays = holidaysOf(config.calendar, context.dir);
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async ({ connection }) => {
    const configured = config.accounts.flatMap(({ id }) => id ?? []);
    const known = { now, freshnessHours: config.freshnessHours, configured };
    const [budget = named] = await withCarried(connection, [named], known);
    const asked = {
      from: now - overMs,
      now,
      lagHours: config.lagHours,
      holidays,
      signal: context.signal,
      progress: context.progress,
    };
    context.progress(`testing ${budget.name} on each past day`);
    const replay = await backtestBudget(connection, budget, asked);
    const state = await completenessOf(connection);
    const { signal } = context;
    // The running period has the state that "costbook budgets" shows.
    const made = context.json
      ? await readForecasts(connection, { now, configured, holidays, budgets: [budget], withWorkspaces: false, signal })
      : [];
    await context.answer(
      backtestToJson(budget, replay, made[0], state, now),
      () => `${describeBacktest(budget, replay, now, context.layout)}\n${describeCompleteness(state)}\n`,
    );
    for (const sentence of await namesNotFound(connection, [budget])) context.tell(`warning: ${sentence}`);
    return exitCodes.done;
  });
}

/** The budget with a name, or the only budget if no name is given. Throws UsageError if there is none. */
function budgetNamed(name: string | undefined, budgets: readonly Budget[]): Budget {
  const names = budgets.map((budget) => budget.name);
  const found =
    name === undefined && budgets.length === 1 ? budgets[0] : budgets.find((budget) => budget.name === name);
  if (found !== undefined) return found;
  if (name === undefined) throw new UsageError(`name a budget: ${names.join(', ')}`);
  const guess = nearest(name, names);
  throw new UsageError(
    `there is no budget "${name}"${guess ? ` (did you mean "${guess}"?)` : ''}: expected one of ${names.join(', ')}`,
  );
}
