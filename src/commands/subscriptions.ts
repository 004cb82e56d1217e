import { join } from 'node:path';
import {
  askedBy,
  deliverAll,
  exitCodeOfDeliveries,
  loadAlertingConfig,
  newMessage,
  originOf,
  sinkOfSubscription,
  undeliveredIn,
} from '../alerts/index.ts';
import { exitCodeOf, UsageError, worstExitCode } from '../base/errors.ts';
import { type Failure, failuresOf } from '../base/failure.ts';
import { type LocalConfig, loadConfig, loadReadable, type Subscription } from '../config/index.ts';
import { commandLineOf, inputOf, type Step } from '../jobs/index.ts';
import { usd } from '../money/money.ts';
import { reading } from '../options/read.ts';
import { options } from '../options/table.ts';
import { readManifest } from '../reports/exports/index.ts';
import { type CompletenessState, completenessOf } from '../reports/formats/index.ts';
import { readReports } from '../reports/questions/index.ts';
import { writingRun } from '../runs/index.ts';
import type { MailedFiles } from '../sinks/index.ts';
import { formatTable } from '../terminal/index.ts';
import { counted } from '../text/counted.ts';
import { type CalendarPeriod, calendarOf, formatInstant, formatMonth, formatSecond, hourMs } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { expectBooks, withBooks } from '../warehouse/integrity/index.ts';
import { closedMonths } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { NewMessage } from '../warehouse/watch/index.ts';
import type { Command, CommandContext } from './command.ts';
import { openPublished } from './open-published.ts';
import { runInChild } from './run-in-child.ts';
import { statementCommand, statementsOf } from './statement.ts';

export const subscriptionsCommand: Command = {
  name: 'subscriptions',
  summary: 'Mail the reports and statements that people have subscribed to in costbook.yaml, each once for its period.',
  examples: ['costbook subscriptions', 'costbook subscriptions --dry-run'],
  async check(_, context) {
    await checkSubscriptions(subscriptionsIn(context), context);
  },
  async run(input, context) {
    const { dryRun: isDry, wait: waitMs } = reading(options.subscriptions, input, context).values;
    const subscriptions = subscriptionsIn(context);
    await checkSubscriptions(subscriptions, context);
    if (isDry || subscriptions.length === 0) return listSubscriptions(subscriptions, context);
    const config = loadAlertingConfig(context);
    await expectBooks(context.dir);
    return writingRun('subscriptions', waitMs, context, async (warehouse, runNumber) => {
      const { due, state } = await dueIn(subscriptions, warehouse, context);
      const { messages, failures, exitCodes } = await messagesOf(due, state, config, context);
      const at = await warehouse.seenAt(context.effects.now());
      const none = { raised: [], ended: [], notified: [], acknowledged: [] };
      await warehouse.recordEvaluation({ runNumber, at, ...none, messages });
      const deliveries = await deliverAll(warehouse, runNumber, config, context);
      const sent = deliveries.map(({ message: { sink, summary }, outcome }) => ({ sink, summary, outcome }));
      await context.answer({ due: due.map(({ key }) => key), messages: sent }, () =>
        [
          ...sent.map(({ sink, summary, outcome }) => `${outcome}  ${summary ?? 'alerts'}  → ${sink}\n`),
          ...(due.length === 0 ? [`${counted(subscriptions.length, 'subscription')}, and nothing is due.\n`] : []),
        ].join(''),
      );
      context.count?.({ messages: sent.length });
      return {
        exitCode: worstExitCode([exitCodeOfDeliveries(deliveries), ...exitCodes]),
        failures: [...failures, ...undeliveredIn(deliveries)],
      };
    });
  },
};

/** The subscriptions of the project. Throws UsageError for mistakes in them; a sink with a mistake stops only what notifies. */
function subscriptionsIn({ dir, env, effects }: CommandContext): readonly Subscription[] {
  const place = { dir, env, now: effects.now(), requireAccounts: false } as const;
  const { subscriptions } = loadConfig(place);
  if (subscriptions !== undefined) return subscriptions;
  throw loadReadable({ ...place, requireSinks: true }).mistakes ?? new Error('subscriptions cannot be read');
}

/** A subscription whose last period was not sent yet. */
interface Due {
  readonly subscription: Subscription;
  readonly period: CalendarPeriod;
  /** Names what is sent: once for each subscription and period. */
  readonly key: string;
}

const kinds = { day: 'daily', week: 'weekly', month: 'monthly' } as const;

/** The last period that can be sent; undefined before the first one. */
function lastPeriod(
  { every }: Subscription,
  { completeThrough }: CompletenessState,
  lastClosed: number | undefined,
): CalendarPeriod | undefined {
  if (every === 'close') return lastClosed === undefined ? undefined : calendarOf('monthly').periodAt(lastClosed);
  if (completeThrough === null) return undefined;
  const calendar = calendarOf(kinds[every]);
  return calendar.periodAt(calendar.periodAt(Date.parse(completeThrough)).start - 1);
}

async function periodsIn(subscriptions: readonly Subscription[], connection: Connection) {
  const state = await completenessOf(connection);
  const lastClosed = (await closedMonths(connection)).at(-1)?.month;
  const periods = subscriptions.map((subscription) => {
    const period = lastPeriod(subscription, state, lastClosed);
    return { subscription, period, key: `subscription/${subscription.name}/${period?.name ?? ''}` };
  });
  return { periods, state };
}

async function dueIn(subscriptions: readonly Subscription[], warehouse: Warehouse, context: CommandContext) {
  const books = await openPublished(warehouse, context);
  const { periods, state } = await periodsIn(subscriptions, books.connection).finally(() => books.close());
  const due: Due[] = [];
  for (const { subscription, period, key } of periods) {
    const sent = await warehouse.sinksOfSummary(key);
    if (period !== undefined && !sent.includes(sinkOfSubscription(subscription.name)))
      due.push({ subscription, period, key });
  }
  return { due, state };
}

/** Prints the subscriptions with their last period. */
async function listSubscriptions(subscriptions: readonly Subscription[], context: CommandContext): Promise<number> {
  if (subscriptions.length === 0) {
    await context.answer({ subscriptions: [] }, () => 'costbook.yaml has no subscriptions.\n');
    return 0;
  }
  return withBooks(context.dir, { lockedDown: true, signal: context.signal }, async ({ connection }) => {
    const { periods } = await periodsIn(subscriptions, connection);
    const rows = periods.map(({ subscription: { name, to, every, step, options: asked }, period }) => ({
      ...{ subscription: name, sends: String(asked['name'] ?? step), every, period: period?.name ?? null, to },
    }));
    await context.answer({ subscriptions: rows }, () =>
      formatTable(
        ['subscription', 'sends', 'every', 'last period', 'to'].map((name) => ({ name, type: 'VARCHAR' })),
        rows.map(({ subscription, sends, every, period, to }) => [
          ...[subscription, sends, every, period ?? 'none yet', to.join(', ')],
        ]),
        context.layout,
      ),
    );
    return 0;
  });
}

/** Throws UsageError that lists what the steps of subscriptions would reject, and reports that are not about its period. */
async function checkSubscriptions(subscriptions: readonly Subscription[], context: CommandContext): Promise<void> {
  const problems: string[] = [];
  for (const subscription of subscriptions) {
    const { name, step, options: given, every } = subscription;
    try {
      const command = step === 'statement' ? statementCommand : (await import('./report.ts')).reportCommand;
      await command.check?.(inputOf({ name: step, options: given }), context);
      const has = await parametersOf(subscription, context);
      if ((every === 'day' || every === 'week') && has.includes('month') && !has.includes('from')) {
        const found = `the report ${given['name']} is about a month: expected every: month or every: close`;
        problems.push(`costbook.yaml: subscriptions.${name}: ${found}`);
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.mistakes.map(({ found }) => `costbook.yaml: subscriptions.${name}: ${found}`));
    }
  }
  if (problems.length > 0) throw new UsageError(problems);
}

/** Writes the files of what is due, and makes a mail of each. One that cannot be written does not stop the others. */
async function messagesOf(due: readonly Due[], state: CompletenessState, config: LocalConfig, context: CommandContext) {
  const messages: NewMessage[] = [];
  const failures: Failure[] = [];
  const exitCodes: number[] = [];
  const { completeThrough, settledThrough } = state;
  const head = { kind: 'summary', at: formatSecond(context.effects.now()), completeThrough, settledThrough } as const;
  for (const one of due) {
    try {
      context.progress(`writing ${one.key}`);
      const files = await filesOf(one, context);
      const message = { ...head, entries: [], summary: null, files, origin: originOf(config, context) };
      messages.push(newMessage(sinkOfSubscription(one.subscription.name), message, one.key));
    } catch (error) {
      context.signal.throwIfAborted();
      exitCodes.push(exitCodeOf(error));
      const own = failuresOf(error).map((failure) => ({ ...failure, subject: one.key }));
      for (const { found } of own) context.tell(`${one.key}: ${found}`);
      failures.push(...own);
    }
  }
  return { messages, failures, exitCodes };
}

/** Mail servers refuse more, counted before it is encoded. */
const maxBytes = 15_000_000;

/** Writes the export of a subscription, and says what it is. */
async function filesOf({ subscription, period, key }: Due, context: CommandContext): Promise<MailedFiles> {
  const { name, step, every, options: given } = subscription;
  const asked = await stepOf(subscription, period, context);
  const { folder, amount } = await (step === 'statement' ? writeStatement : writeReport)(asked, context);
  const manifest = (await readManifest(folder))?.manifest;
  if (manifest === undefined) throw new Error(`${folder} has no manifest`);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > maxBytes) {
    throw new UsageError(
      `${key}: the files have ${bytes} bytes, and a mail has at most ${maxBytes}: choose one format, or narrow the report`,
    );
  }
  const what = step === 'statement' ? 'Statement' : `Report ${manifest.report}`;
  const owner = typeof given['owner'] === 'string' ? ` for ${given['owner']}` : '';
  const cost = amount ?? manifest.cost;
  const often = every === 'close' ? 'after each close of a month' : `every ${every}`;
  return {
    title: `${what} of ${period.name}${owner}${cost === null ? '' : `: ${usd(cost)}`}`,
    sentences: [
      manifest.closedAt === null
        ? `${period.name} is not closed: the platform can still correct its costs.`
        : `These are the numbers of the close of ${period.name}.`,
      `You get this ${often}: "${name}" in subscriptions of costbook.yaml.`,
    ],
    files: manifest.files.map((file) => ({
      name: file.name.replace(/^latest/, `${manifest.report}-${period.name}`),
      path: join(folder, file.name),
    })),
    command: `costbook ${commandLineOf(asked)}`,
    asked: askedBy(subscription),
  };
}

/** The step of a job that writes what is due. */
async function stepOf(subscription: Subscription, period: CalendarPeriod, context: CommandContext): Promise<Step> {
  const { step, options: given } = subscription;
  const month = { month: formatMonth(period.start) };
  if (step === 'statement') return { name: step, options: { ...given, ...month } };
  const has = await parametersOf(subscription, context);
  const [from = '', to = ''] = [period.start, period.end].map((at) => formatInstant(at).slice(0, 10));
  if (has.includes('from') && has.includes('to')) return { name: step, options: { ...given, from, to } };
  return { name: step, options: { ...given, ...(has.includes('month') ? month : {}) } };
}

/** The names of the parameters of its report; a statement has none. */
async function parametersOf({ step, options: { name } }: Subscription, { dir }: CommandContext) {
  const reports = step === 'report' ? await readReports(join(dir, 'sql')) : [];
  return reports.find((report) => report.name === name)?.parameters.map((parameter) => parameter.name) ?? [];
}

interface Wrote {
  readonly folder: string;
  /** USD; null if the manifest has it. */
  readonly amount: string | null;
}

async function writeStatement(step: Step, context: CommandContext): Promise<Wrote> {
  const [published] = await statementsOf(inputOf(step), quiet(context));
  if (published === undefined) throw new Error('no statement was written');
  return { folder: published.folder, amount: published.billedCost };
}

async function writeReport(step: Step, context: CommandContext): Promise<Wrote> {
  const folders: string[] = [];
  const { signal } = context;
  await runInChild('report', inputOf(step), context, {
    ...{ subject: commandLineOf(step), timeoutMs: hourMs, signal, write: quiet(context).write },
    onPublished: ({ folder }) => void folders.push(folder),
  });
  const [folder] = folders;
  if (folder === undefined) throw new Error('no report was written');
  return { folder, amount: null };
}

/** The same command without its answer: the files have it. */
function quiet(context: CommandContext): CommandContext {
  return { ...context, write: async () => undefined, count: undefined };
}
