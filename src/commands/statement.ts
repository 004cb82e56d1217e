import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { exitCodes, UnprovenError, UsageError } from '../base/errors.ts';
import { expectProject } from '../base/project-folder.ts';
import { folderOf, loadConfig } from '../config/index.ts';
import {
  type CurrencyOfMonth,
  convertedWords,
  currencyOfMonth,
  noRate,
  secondCurrencyOf,
  withoutRateWords,
} from '../currency/index.ts';
import type { CommandInput } from '../options/read.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { filesOf } from '../reports/exports/index.ts';
import {
  type CompletenessState,
  completenessOf,
  describeCompleteness,
  incompleteness,
} from '../reports/formats/index.ts';
import { shortestPath } from '../reports/publishing/index.ts';
import {
  expectClosesHold,
  type GivenParameter,
  periodsOf,
  type ReadParameters,
  type Report,
  readParameters,
  refusalWords,
  resolveAsOf,
  settleParameters,
  unanswerable,
} from '../reports/questions/index.ts';
import {
  ownersOfMonth,
  type PublishedStatement,
  publishStatement,
  readStatementMonth,
  type StatementMonth,
  statementReports,
} from '../statement/index.ts';
import { sendExports } from '../storage/index.ts';
import { nearest } from '../text/choices.ts';
import { forTerminal } from '../text/safe-text.ts';
import { formatMonth, type Instant } from '../time/time.ts';
import { type Books, openBooks } from '../warehouse/integrity/index.ts';
import { closedMonths, completeness } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';
import { storeOf } from './exports-in-store.ts';

export const statementCommand: Command = {
  name: 'statement',
  summary:
    'Write the statement of a month for people who sign it: an HTML file that prints on A4, and an XLSX workbook.',
  examples: [
    'costbook statement --month 2026-10',
    'costbook statement --month 2026-10 --owner payments --out /srv/finance',
    'costbook statement --month 2026-10 --each owner --format html',
  ],
  async check(input, context) {
    const { out } = await readAsked(input, context);
    storeOf(out, context);
  },
  async run(input, context) {
    const asked = await readAsked(input, context);
    expectProject(context);
    const place = storeOf(asked.out, context);
    const published = await writeStatements(asked, context);
    if (place !== undefined) await sendExports(published, asked.root, place, context);
    return exitCodes.done;
  },
};

/** A command line, read as far as it can be without the books. */
interface Asked {
  readonly isEach: boolean;
  readonly owner: string | undefined;
  readonly dimension: string;
  readonly formats: readonly string[];
  readonly out: string | undefined;
  readonly root: string;
  readonly isRequired: boolean;
  readonly month: GivenParameter[];
  readonly whole: Report;
  readonly ofOwner: Report;
  /** The month alone, which says as of when the books answer. */
  readonly read: ReadParameters;
}

/** Throws UsageError that lists everything wrong with a command line. */
async function readAsked(
  input: CommandInput,
  context: Pick<CommandContext, 'dir' | 'folder' | 'effects'>,
): Promise<Asked> {
  const { dir, folder, effects } = context;
  const { values, isGiven, problem, check } = reading(options.statement, input, context);
  const { owner, out, by: dimension, format: formats, month: text, requireComplete: isRequired } = values;
  const { whole, ofOwner } = await statementReports();
  if (isGiven.each && isGiven.owner) problem('--each: found next to --owner, expected one of the two');
  if (owner === '') problem('--owner: found nothing, expected the name of an owner such as payments');
  const month = text === undefined ? [] : [{ name: 'month', text, what: '--month' }];
  const read = await readParameters(whole, month, { now: effects.now(), dir, folders: [], problem });
  check();
  const root = resolve(folder, folderOf(out) ?? join(dir, 'exports'));
  return { isEach: isGiven.each, owner, out, dimension, formats, root, isRequired, month, whole, ofOwner, read };
}

/** Writes the statements that a command line asks for. Throws as the command. */
export async function statementsOf(
  input: CommandInput,
  context: CommandContext,
): Promise<readonly PublishedStatement[]> {
  return writeStatements(await readAsked(input, context), context);
}

async function writeStatements(line: Asked, context: CommandContext): Promise<readonly PublishedStatement[]> {
  const { books, state, asOf, values } = await openMonth(line, context);
  const { connection } = books;
  try {
    const accounts = await completeness(connection);
    const periods = periodsOf(values);
    const [period] = periods;
    if (period === undefined) throw new Error('a statement is about a month');
    const asked = { ...line, month: [{ name: 'month', text: period.label, what: '--month' }] };
    const now = asOf ?? context.effects.now();
    const given = await bound(asked, asked.owner ?? 'anybody', state, context);
    const refusals = await unanswerable(connection, asked.ofOwner, [...values, ...given], {
      ...{ accounts, now, isOfFuture: false, budgets: [] },
    });
    const missing = incompleteness(accounts, periods, { isClose: asOf !== undefined });
    if (asked.isRequired && missing.length > 0) throw new UnprovenError([...missing, 'nothing was written']);
    if (refusals.length > 0) throw new UsageError([...new Set(refusalWords(refusals)), 'nothing was written']);
    for (const sentence of missing) context.tell(`warning: ${sentence}; the statement is marked as a draft`);
    context.progress('collecting the costs of the month');
    const currency = await currencyOf(connection, { asOf, month: period.start }, context);
    const asking = { month: period.start, state, missing, currency };
    const month = await readStatementMonth(connection, asking, asked.dimension);
    const owners = await ownersAsked(asked, books, state, context);
    const published: PublishedStatement[] = [];
    for (const owner of owners) {
      context.signal.throwIfAborted();
      published.push(
        await publishStatement(connection, {
          report: owner === undefined ? asked.whole : asked.ofOwner,
          values: owner === undefined ? values : await bound(asked, owner, state, context),
          scope: { owner, dimension: asked.dimension },
          ...{ month, state, asOf, formats: asked.formats, root: asked.root, dir: context.dir, signal: context.signal },
          onProgress: context.progress,
        }),
      );
    }
    await answer(published, month, context);
    return published;
  } finally {
    books.close();
  }
}

/** The second currency with the rate of the month. Says so if there is none. */
async function currencyOf(
  connection: Connection,
  { asOf, month }: { asOf: Instant | undefined; month: Instant },
  { dir, env, effects, tell }: CommandContext,
): Promise<CurrencyOfMonth | undefined> {
  const settings = loadConfig({ dir, env, now: effects.now(), requireAccounts: false }).currency;
  const isClose = asOf !== undefined;
  const second = await secondCurrencyOf(settings, { connection, dir, asOf, isClose });
  const found = currencyOfMonth(second, month);
  if (found === undefined && settings !== undefined) {
    const { code } = settings;
    const without = second?.rateOf(month) ?? { month: formatMonth(month), ...noRate, isClosed: isClose };
    for (const words of withoutRateWords(code, [without])) tell(`note: ${words}`);
  }
  return found;
}

/** Opens the books that a statement is from: those of the month's close, or the present while the month is open. */
async function openMonth({ read }: Asked, { dir, signal }: CommandContext) {
  const reader = randomUUID();
  const books = await openBooks(dir, { lockedDown: true, reader, signal });
  let asOf: Instant | undefined;
  try {
    const state = await completenessOf(books.connection);
    const values = settleParameters(read, state, (await closedMonths(books.connection)).at(-1)?.month);
    const periods = periodsOf(values);
    asOf = await resolveAsOf(books.connection, undefined, periods);
    await expectClosesHold(books.connection, undefined, { periods, sql: await readSql('statement', 'collect') });
    if (asOf === undefined) return { books, state, asOf, values };
    books.close();
    const closed = await openBooks(dir, { lockedDown: true, asOf, isClose: true, reader, signal });
    const then = await completenessOf(closed.connection, asOf);
    return { books: closed, state: { ...then, closedAt: then.asOf }, asOf, values };
  } catch (error) {
    books.close();
    throw error;
  }
}

/** The parameters of an owner's statement. */
async function bound(
  { ofOwner, month, dimension }: Asked,
  owner: string,
  state: CompletenessState,
  { dir, effects }: CommandContext,
) {
  const given = [
    ...month,
    { name: 'owner', text: owner, what: '--owner' },
    ...(dimension === 'team' ? [] : [{ name: 'dimension', text: dimension, what: '--by' }]),
  ];
  const problems: string[] = [];
  const problem = (text: string): number => problems.push(text);
  const read = await readParameters(ofOwner, given, { now: effects.now(), dir, folders: [], problem });
  if (problems.length > 0) throw new UsageError(problems);
  return settleParameters(read, state);
}

/** Whose statements to write; undefined is everybody's. Throws UsageError for an owner that the month charges nothing. */
async function ownersAsked(
  { owner, isEach, dimension }: Asked,
  { connection }: Books,
  { closedAt }: CompletenessState,
  context: CommandContext,
): Promise<readonly (string | undefined)[]> {
  if (owner === undefined && !isEach) return [undefined];
  const owners = await ownersOfMonth(connection);
  const names = owners.flatMap((one) => one.owner ?? []);
  if (isEach) {
    if (names.length === 0) {
      throw new UsageError(
        `no cost of the month has an owner in the dimension "${dimension}": ${closedAt === null ? 'write allocation rules' : 'the month was closed without such rules. Apply them, reopen the month and close it again'}, or name another dimension with --by`,
      );
    }
    const rest = owners.find((one) => one.owner === null);
    if (rest !== undefined && /[1-9]/.test(rest.billedCost)) {
      const difference = /[1-9]/.test(rest.invoiceDifference)
        ? ` (${rest.invoiceDifference} USD of that are the difference to the invoice)`
        : '';
      context.tell(
        `warning: ${rest.billedCost} USD have no ${dimension}, so they are in no owner's statement${difference}`,
      );
    }
    return names;
  }
  if (owner !== undefined && names.includes(owner)) return [owner];
  const alike = names.filter((name) => name.toLowerCase() === owner?.toLowerCase());
  if (alike.length === 1) return alike;
  const near = nearest(owner ?? '', names);
  const known = names.length === 0 ? 'there is none' : `expected one of ${names.slice(0, 10).join(', ')}`;
  throw new UsageError(
    `the month charges nothing to ${dimension} "${owner}": ${near === undefined ? known : `did you mean "${near}"?`}`,
  );
}

async function answer(
  published: readonly PublishedStatement[],
  { state, currency }: Pick<StatementMonth, 'state' | 'currency'>,
  context: CommandContext,
): Promise<void> {
  const files = published.reduce((sum, { manifest }) => sum + manifest.files.length, 0);
  const unchanged = published.every(({ isUnchanged }) => isUnchanged);
  const rows = published.reduce((sum, { manifest }) => sum + manifest.rows, 0);
  context.count?.({ rows, files, unchanged });
  if (context.json) {
    const statements = published.map((one) => ({
      ...{ report: one.manifest.report, parameters: one.manifest.parameters, folder: one.folder },
      ...{ rows: one.manifest.rows, cost: one.cost, billedCost: one.billedCost, unchanged: one.isUnchanged },
      files: filesOf(one).map(({ format, path, latest, sha256, bytes }) => ({ format, path, latest, sha256, bytes })),
    }));
    await context.write(
      `${JSON.stringify({ ...state, ...(currency === undefined ? {} : { currency }), statements })}\n`,
    );
    return;
  }
  for (const one of published) {
    const { parameters } = one.manifest;
    const owner = parameters['owner'];
    const other = currency === undefined ? '' : ` (${convertedWords(one.billedCost, currency)})`;
    // The names of the same numbers on the page.
    const costs = `${owner === undefined ? 'billed' : 'charged'} ${one.billedCost} USD${other}, cost of the month ${one.cost} USD`;
    const said = `${parameters['month']}${owner === undefined ? '' : ` ${owner}`}: ${costs}${one.isUnchanged ? ' (unchanged)' : ''}`;
    // Owners come from labels.
    await context.write(`${forTerminal(said)}\n`);
    for (const { path } of filesOf(one)) await context.write(`${shortestPath(context.folder, path)}\n`);
  }
  await context.write(`${describeCompleteness(state)}\n`);
}
