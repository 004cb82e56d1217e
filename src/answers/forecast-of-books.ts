import { UsageError } from '../base/errors.ts';
import { readForecasts, type ScopeForecast, withForecasts } from '../budgets/forecasts/index.ts';
import { type Budget, budgetsFile, loadBudgets, parseChange } from '../budgets/rules/index.ts';
import { describeForecasts, forecastsToJson } from '../budgets/show/index.ts';
import { readSpends, withCarried } from '../budgets/spend/index.ts';
import { alertSinksOf, holidaysOf, loadConfig } from '../config/index.ts';
import { eachOf } from '../options/kinds.ts';
import type { CommandInput } from '../options/read.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { completenessOf, describeCompleteness } from '../reports/formats/index.ts';
import { instantOf } from '../reports/questions/index.ts';
import { nearest } from '../text/choices.ts';
import { formatInstant, type Instant } from '../time/time.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { answerCache, ownAnswers } from '../warehouse/store/index.ts';
import type { BooksContext } from './context.ts';

/** Forecasts budgets, and resource types of workspaces, to the end of the period, from the published snapshot. */
export async function forecastOfBooks(input: CommandInput, context: BooksContext): Promise<number> {
  const { values, attempt, check } = reading(options.forecast, input, context);
  const { budget: names, workspace: workspaces } = values;
  const changes = attempt(() => eachOf(values.with, '--with', parseChange)) ?? [];
  const asOf = instantOf(values.asOf);
  check();
  const now = asOf ?? context.effects.now();
  const { dir, env, signal } = context;
  const config = loadConfig({ dir, env, now, requireAccounts: false });
  const sinks = alertSinksOf(config.sinks);
  const budgets = loadBudgets(budgetsFile(dir), { now, sinks }) ?? [];
  const isFiltered = names.length + workspaces.length > 0;
  return withBooks(dir, { lockedDown: true, asOf, signal }, async (books) => {
    const configured = config.accounts.flatMap(({ id }) => id ?? []);
    const named = isFiltered ? names.map((name) => budgetNamed(name, budgets)) : budgets;
    // Stored answers are of the present books.
    const cache = asOf === undefined ? answerCache(books.connection) : ownAnswers();
    const spending = { now, freshnessHours: config.freshnessHours, configured, cache };
    const made = await readForecasts(books.connection, {
      now,
      configured,
      holidays: holidaysOf(config.calendar, dir),
      budgets: (await withCarried(books.connection, named, spending)).map((budget) => ({
        ...budget,
        changes: [...(budget.changes ?? []), ...changes],
      })),
      changes: [...(budgets[0]?.changes ?? []), ...changes],
      withWorkspaces: !isFiltered || workspaces.length > 0,
      ...(isFiltered ? { workspaces } : {}),
      signal,
      progress: context.progress,
      cache,
    });
    const ofBudgets = made.flatMap(({ scope, period }) =>
      scope.kind === 'budget' ? { budget: scope.budget, period } : [],
    );
    const spends = await readSpends(books.connection, ofBudgets, spending);
    const shown = withForecasts(spends, made);
    const forecasts = made.map((one): ScopeForecast => {
      const of = one.scope.kind === 'budget' ? one.scope.budget.name : undefined;
      const own = shown.find(({ budget, period }) => budget === of && period.start === one.period.start);
      return { ...one, forecast: own?.forecast ?? one.forecast };
    });
    for (const sentence of overSentences(forecasts, now)) context.tell(`warning: ${sentence}`);
    const state = await completenessOf(books.connection, asOf);
    await context.answer(
      forecastsToJson(forecasts, state),
      () => `${describeForecasts(forecasts, context.layout)}\n${describeCompleteness(state)}\n`,
    );
    const known = forecasts.flatMap(({ scope }) => (scope.kind === 'workspace' ? (scope.workspace ?? []) : []));
    for (const name of workspaces) {
      if (!known.includes(name)) {
        context.tell(`warning: the books have no recent costs of the workspace ${JSON.stringify(name)}`);
      }
    }
    return 0;
  });
}

/** A sentence for each period that is over, so that its forecast covers only missing hours. */
function overSentences(forecasts: readonly ScopeForecast[], now: Instant): string[] {
  const sentences = forecasts.flatMap(({ period, completeThrough }) =>
    completeThrough === undefined || period.end > now
      ? []
      : [
          `${period.name} is over, but the books are complete only through ${formatInstant(completeThrough)}: ` +
            'its forecast fills in the missing hours',
        ],
  );
  return [...new Set(sentences)];
}

function budgetNamed(name: string, budgets: readonly Budget[]): Budget {
  const found = budgets.find((budget) => budget.name === name);
  if (found !== undefined) return found;
  const names = budgets.map((budget) => budget.name);
  const guess = nearest(name, names);
  const expected = names.length === 0 ? 'jobs/budgets.yaml has none' : `expected one of ${names.join(', ')}`;
  throw new UsageError(`there is no budget "${name}"${guess ? ` (did you mean "${guess}"?)` : ''}: ${expected}`);
}
