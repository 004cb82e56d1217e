import { resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { type Budget, budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import { alertSinksOf, type LocalConfig } from '../config/index.ts';
import type { BooksContext, ChildContext } from './context.ts';

export function fileAsked(given: string | undefined, { dir, folder }: Pick<BooksContext, 'dir' | 'folder'>): string {
  return given === undefined ? budgetsFile(dir) : resolve(folder, given);
}

/** The budgets of the requested file. Throws UsageError if there are none. */
export function budgetsAsked(
  given: string | undefined,
  { sinks }: LocalConfig,
  { dir, folder, effects }: Pick<ChildContext, 'dir' | 'folder' | 'effects'>,
): readonly Budget[] {
  const file = fileAsked(given, { dir, folder });
  const budgets = loadBudgets(file, { now: effects.now(), sinks: alertSinksOf(sinks) });
  if (budgets !== undefined && budgets.length > 0) return budgets;
  throw new UsageError(
    `${file}: found ${budgets === undefined ? 'no such file' : 'no budgets'}, expected budgets such as\n${exampleBudget}`,
  );
}

export const exampleBudget = 'budgets:\n  - name: everything\n    period: monthly\n    amount: 5000 USD';
