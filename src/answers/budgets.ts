import { loadAnomalyRules } from '../anomalies/index.ts';
import { exitCodes, wordsOf, worstExitCode } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import { exceedsOnOf, readForecasts, withForecasts } from '../budgets/forecasts/index.ts';
import { budgetCalendar, budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import { type BudgetNow, budgetsToJson, describeBudgets, notBegun } from '../budgets/show/index.ts';
import { groupGaps, namesNotFound, readSpends, stateOf, withCarried } from '../budgets/spend/index.ts';
import { holidaysOf, loadConfig } from '../config/index.ts';
import type { CommandInput } from '../options/read.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { formatInstant } from '../time/time.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { answerCache } from '../warehouse/store/index.ts';
import { budgetsAsked, exampleBudget, fileAsked } from './budgets-asked.ts';
import { convertedBudgets, describeConverted, presentCurrency } from './budgets-in-currency.ts';
import type { BooksContext } from './context.ts';

/** Shows every budget: spent, forecast, state. Returns the exit code of --exit-code. Throws UsageError for mistakes. */
export async function showBudgets(input: CommandInput, context: BooksContext): Promise<number> {
  const now = context.effects.now();
  const values = read(options.budgets, input, context);
  const { file, exitCode } = values;
  const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
  loadAnomalyRules(fileAsked(file, context), undefined); // reports mistakes there as well
  const own = file === undefined ? loadBudgets(budgetsFile(context.dir), { now }) : undefined;
  if (file === undefined && (own ?? []).length === 0) return sayHowToBegin(context);
  const given = budgetsAsked(file, config, context);
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async ({ connection }) => {
    const configured = config.accounts.flatMap(({ id }) => id ?? []);
    const cache = answerCache(connection);
    const known = { now, freshnessHours: config.freshnessHours, configured, cache };
    const budgets = await withCarried(connection, given, known);
    const asked = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const { signal } = context;
    const forecasts = await readForecasts(connection, {
      now,
      configured,
      holidays: holidaysOf(config.calendar, context.dir),
      budgets,
      withWorkspaces: false,
      signal,
      cache,
    });
    const spends = withForecasts(await readSpends(connection, asked, known), forecasts);
    const lines = asked.flatMap(({ budget, period }, index): BudgetNow[] => {
      const [spend, made] = [spends[index], forecasts[index]];
      if (spend === undefined || made === undefined) return [];
      const isOfPeriod = made.period.start === period.start;
      const forecast = isOfPeriod ? (spend.forecast ?? made.forecast) : notBegun(period, made.completeThrough);
      const exceedsOn = isOfPeriod ? exceedsOnOf(made) : undefined;
      return [
        {
          budget,
          spend,
          forecast,
          recent: made.recent,
          ...(isOfPeriod ? { origin: made.origin } : {}),
          exceedsOn,
          state: stateOf(budget, period, spend, forecast),
        },
      ];
    });
    const state = await completenessOf(connection);
    const { currency, mistakes } = await presentCurrency(config, { connection, dir: context.dir, now });
    const converted = currency === undefined ? {} : { currency: convertedBudgets(lines, currency) };
    await context.answer({ ...budgetsToJson(lines, state, now), ...converted }, () => {
      const other = currency === undefined ? '' : `${describeConverted(lines, currency)}\n`;
      return `${describeBudgets(lines, now, context.layout)}\n${other}${describeCompleteness(state)}\n`;
    });
    for (const { of, isOne, sentence } of groupGaps(lines.map(({ spend }) => spend))) {
      context.tell(`warning: ${of} ${isOne ? 'is' : 'are'} not complete: ${sentence}`);
    }
    for (const sentence of await namesNotFound(connection, budgets, cache)) context.tell(`warning: ${sentence}`);
    // Amounts in USD need no rates.
    for (const line of mistakes === undefined ? [] : wordsOf(mistakes)) context.tell(line);
    const ofRates = mistakes === undefined ? [] : [mistakes.exitCode];
    return worstExitCode([...ofRates, ...(exitCode ? lines.map(exitCodeOfBudget) : [])]);
  });
}

/** A project without budgets is not an error: explains how to write the first one. */
async function sayHowToBegin(context: BooksContext): Promise<number> {
  expectProject(context);
  const nothing = { now: formatInstant(context.effects.now()), completeThrough: null, settledThrough: null };
  await context.answer(
    { ...nothing, budgets: [] },
    () =>
      `There are no budgets yet. Write them into ${budgetsFile(context.dir)}, for example:\n\n${exampleBudget}\n\n` +
      'Then "costbook budgets" shows what is spent and what is forecast, and "costbook alert" notifies you.\n',
  );
  return exitCodes.done;
}

function exitCodeOfBudget({ state }: BudgetNow): number {
  if (state === undefined || state === 'NO COUNTS') return exitCodes.unproven;
  return state === 'EXCEEDED' ? exitCodes.overBudget : exitCodes.done;
}
