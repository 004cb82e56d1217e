import { messageOf, UsageError } from '../base/errors.ts';
import type { CostsAsked, LimitedAnswer, LimitedBooks } from '../mcp/index.ts';
import { addCalendarMonths, floorMonth, formatInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { type BooksView, type Scope, ViewerLeftError } from './books/index.ts';
import { readBooksState, readDifferingMonths } from './books-state.ts';
import { encodeFilters, isDimension, only } from './dimensions.ts';
import { answer } from './explore.ts';
import { fileRows } from './explore-file.ts';
import { addressOf, type ExploreHours, hoursOf } from './explore-question.ts';
import { readExplored } from './explored.ts';
import { BusyError } from './limiter.ts';
import { moverWindows, readMovers } from './movers.ts';
import { resourceNamesOf } from './resource.ts';

/** Runs work on the newest snapshot as the viewer sees it. */
export type ReadLimited = <T>(work: (view: BooksView) => Promise<T>, signal: AbortSignal) => Promise<T>;

/** How long one question may take. */
const limitMs = 30_000;
/** Resources of one name that are shown with all their costs. */
const maxResources = 5;
const maxStates = 20;

/** The books of a scope. `onFault` gets what goes wrong; the agent gets only mistakes in its own question. */
export function limitedBooks(read: ReadLimited, onFault: (words: string) => void): LimitedBooks {
  async function ask(
    work: (view: BooksView) => Promise<Omit<LimitedAnswer, 'completeThrough' | 'settledThrough'>>,
    signal: AbortSignal,
  ): Promise<LimitedAnswer> {
    const limit = AbortSignal.timeout(limitMs);
    try {
      return await read(
        async (view) => {
          const [{ completeThrough, settledThrough }, found] = await Promise.all([readBooksState(view), work(view)]);
          return { completeThrough, settledThrough, ...found };
        },
        AbortSignal.any([signal, limit]),
      );
    } catch (error) {
      if (error instanceof UsageError) throw error;
      signal.throwIfAborted();
      if (limit.aborted) throw new UsageError(`this took longer than ${limitMs / 1000} s: choose a shorter range`);
      if (error instanceof BusyError || error instanceof ViewerLeftError) throw new UsageError(messageOf(error));
      onFault(messageOf(error));
      // Its words may name folders of this machine, or what the viewer must not see.
      throw new UsageError('this failed; the log of the server has the reason');
    }
  }
  return {
    status: (signal) => ask(statusOf, signal),
    costs: (asked, maxRows, signal) => ask((view) => costsOf(view, asked, maxRows), signal),
    changes: (days, maxRows, signal) => ask((view) => changesOf(view, days, maxRows), signal),
    resource: (name, workspace, signal) => ask((view) => resourceOf(view, name, workspace), signal),
  };
}

async function statusOf(view: BooksView) {
  const [{ historyStart }, differing] = await Promise.all([readBooksState(view), readDifferingMonths(view)]);
  const closed = [...new Set(differing.map(({ words }) => words))];
  return { source: 'the dashboard', data: { sees: scopeWords(view.scope), historyStart, closed }, isCut: false };
}

/** What a viewer sees: `the costs of the workspaces north and south`. */
function scopeWords(scope: Scope): string {
  if (scope.kind === 'all') return 'all costs';
  if (scope.kind === 'owner') return `the costs that the allocation rules give to ${scope.owner} directly`;
  return `the costs of ${scope.workspaces.length === 1 ? 'the workspace' : 'the workspaces'} ${scope.workspaces.join(', ')}`;
}

async function costsOf(view: BooksView, { filters = {}, except = {}, ...asked }: CostsAsked, maxRows: number) {
  const hours = await completeHours(view);
  const named = [...Object.keys(filters), ...Object.keys(except)];
  const strange = named.find((name, index) => !isDimension(name) || named.indexOf(name) < index);
  if (strange !== undefined)
    throw new UsageError(`filters: ${JSON.stringify(strange)} is no dimension, or stands in filters and in except`);
  const excluded = Object.entries(only(except)).map(
    ([name, { values }]) => [name, { values, isExcept: true }] as const,
  );
  const { groupBy: group, ...given } = asked;
  const texts = Object.entries({ ...given, group }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const query = new URLSearchParams([
    ...(texts as [string, string][]),
    ...encodeFilters({ ...only(filters), ...Object.fromEntries(excluded) }),
  ]);
  const answered = await answer(view, query, hours);
  if (answered.problems.length > 0) throw new UsageError(answered.problems);
  const { asked: read, explored } = answered;
  const rows = [...fileRows(answered)].map(
    ([start, end, isComplete, , name, isRest, cost, usage, unit, , costBefore]) => ({
      ...{ start, end, isComplete: isComplete === 'true', group: name, isRest: isRest === 'true' },
      ...{ cost, usage, unit, costBefore },
    }),
  );
  return {
    source: addressOf(read),
    data: {
      ...{ from: formatInstant(read.from), to: formatInstant(read.to), step: read.step, groupBy: read.groupBy },
      ...{ groups: explored.groups, total: explored.total },
      ...(read.before === undefined
        ? { totalBefore: null, notCompared: read.notCompared ?? null }
        : {
            ...{ totalBefore: explored.totalBefore, beforeFrom: formatInstant(read.before.from) },
            beforeTo: formatInstant(read.before.to),
          }),
      rows: rows.slice(0, maxRows),
    },
    isCut: rows.length > maxRows,
  };
}

async function changesOf(view: BooksView, days: number, maxRows: number) {
  const { through, completeFrom } = await completeHours(view);
  const { compared, rows } = await readMovers(view, {
    ...{ by: 'resource', days, through, completeFrom, count: maxRows + 1 },
  });
  const shown = rows.map(({ account, workspace, resource_type, resource_name, cost, cost_before, change }) => {
    return { account, workspace, resource_type, resource_name, cost, cost_before, change };
  });
  const data = compared.kind === 'none' ? { notCompared: compared.reason } : moverWindows(compared);
  return {
    source: 'the largest changes on the overview of the dashboard',
    data: { ...data, rows: shown.slice(0, maxRows) },
    isCut: rows.length > maxRows,
  };
}

async function resourceOf(view: BooksView, name: string, workspace: string | undefined) {
  const matches = await view.rows('resource', {
    ...{ name, name_md5: null, type: '', type_md5: null, type_any: true },
    ...{ workspace: workspace ?? '', workspace_md5: null, workspace_any: workspace === undefined },
  });
  if (matches.length === 0) {
    // The same words for one that does not exist and one that the viewer must not see.
    throw new UsageError(`the costs that this token sees have no resource ${JSON.stringify(name)}`);
  }
  const distinct = [...new Map(matches.map((row) => [JSON.stringify(resourceNamesOf(row)), row])).values()];
  const found = await Promise.all(distinct.slice(0, maxResources).map((row) => oneResource(view, row)));
  return {
    source: 'the page of the resource on the dashboard',
    data: { resources: found },
    isCut: distinct.length > maxResources,
  };
}

/** The months and the states of one resource. */
async function oneResource(view: BooksView, row: SqlRow) {
  const names = resourceNamesOf(row);
  const { through } = await completeHours(view);
  const [explored, states] = await Promise.all([
    readExplored(view, {
      ...{ from: addCalendarMonths(floorMonth(through - 1), -12), to: through, step: 'month', top: 50 },
      groupBy: 'billing_dimension',
      filters: only({ resource_type: names.type, workspace: names.workspace, resource_name: names.name }),
    }),
    view.rows('resource_states', { ...names, is_owner: view.scope.kind === 'owner' }),
  ]);
  const months = explored.series.flatMap(({ key, costs, usages, unit = null }) =>
    explored.labels.flatMap((label, index) =>
      costs[index] === undefined
        ? []
        : [
            {
              ...{ month: label.slice(0, 7), billingDimension: key ?? 'all others' },
              ...{ cost: costs[index], usage: usages[index] ?? null, unit },
            },
          ],
    ),
  );
  return { ...names, months, states: states.slice(0, maxStates) };
}

/** The end of the complete hours. Throws UsageError if there is none. */
async function completeHours(view: BooksView): Promise<ExploreHours> {
  const state = await readBooksState(view);
  if (state.completeThrough === null) throw new UsageError('no hour of the costs that this token sees is complete yet');
  return hoursOf(state, state.completeThrough);
}
