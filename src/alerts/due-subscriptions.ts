import { join } from 'node:path';
import { exitCodeOf, UsageError } from '../base/errors.ts';
import { type Failure, failuresOf } from '../base/failure.ts';
import type { LocalConfig, Subscription } from '../config/index.ts';
import { commandLineOf, type Step } from '../jobs/index.ts';
import { usd } from '../money/money.ts';
import { readManifest } from '../reports/exports/index.ts';
import { type CompletenessState, completenessOf } from '../reports/formats/index.ts';
import { readReports } from '../reports/questions/index.ts';
import type { MailedFiles } from '../sinks/index.ts';
import { type CalendarPeriod, calendarOf, formatInstant, formatMonth, formatSecond } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { closedMonths } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { NewMessage } from '../warehouse/watch/index.ts';
import { newMessage } from './message.ts';
import { type AlertingContext, originOf } from './notify.ts';
import { askedBy, sinkOfSubscription } from './subscriptions.ts';

/** A subscription with its last period. */
export interface SubscriptionOfPeriod<Period = CalendarPeriod> {
  readonly subscription: Subscription;
  /** The last period that can be sent; undefined before the first one. */
  readonly period: Period;
  /** Names what is sent: once for each subscription and period. */
  readonly key: string;
}

/** What a step wrote: the folder of its export, and USD; null if the manifest has them. */
export interface WrittenFiles {
  readonly folder: string;
  readonly amount: string | null;
}

const kinds = { day: 'daily', week: 'weekly', month: 'monthly' } as const;

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

/** The last period of each subscription in the books, and the state of the books. */
export async function periodsOfSubscriptions(subscriptions: readonly Subscription[], connection: Connection) {
  const state = await completenessOf(connection);
  const lastClosed = (await closedMonths(connection)).at(-1)?.month;
  const periods = subscriptions.map((subscription): SubscriptionOfPeriod<CalendarPeriod | undefined> => {
    const period = lastPeriod(subscription, state, lastClosed);
    return { subscription, period, key: `subscription/${subscription.name}/${period?.name ?? ''}` };
  });
  return { periods, state };
}

/** The subscriptions whose last period was not sent yet, and the state of the books. */
export async function dueSubscriptions(
  subscriptions: readonly Subscription[],
  connection: Connection,
  { sinksOfSummary }: Pick<Warehouse, 'sinksOfSummary'>,
) {
  const { periods, state } = await periodsOfSubscriptions(subscriptions, connection);
  const due: SubscriptionOfPeriod[] = [];
  for (const { subscription, period, key } of periods) {
    const sent = await sinksOfSummary(key);
    if (period !== undefined && !sent.includes(sinkOfSubscription(subscription.name)))
      due.push({ subscription, period, key });
  }
  return { due, state };
}

/** What writes the files of a step, and what the mails of subscriptions need besides. */
export interface SubscriptionMails {
  readonly state: CompletenessState;
  readonly config: LocalConfig;
  write(step: Step): Promise<WrittenFiles>;
}

/** Writes the files of what is due, and makes a mail of each. One that cannot be written does not stop the others. */
export async function mailsOfSubscriptions(
  due: readonly SubscriptionOfPeriod[],
  { state: { completeThrough, settledThrough }, config, write }: SubscriptionMails,
  context: AlertingContext,
) {
  const messages: NewMessage[] = [];
  const failures: Failure[] = [];
  const exitCodes: number[] = [];
  const head = { kind: 'summary', at: formatSecond(context.effects.now()), completeThrough, settledThrough } as const;
  for (const one of due) {
    try {
      context.progress(`writing ${one.key}`);
      const files = await filesOf(one, write, context.dir);
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
async function filesOf(
  { subscription, period, key }: SubscriptionOfPeriod,
  write: SubscriptionMails['write'],
  dir: string,
): Promise<MailedFiles> {
  const { name, step, every, options: given } = subscription;
  const asked = await stepOf(subscription, period, dir);
  const { folder, amount } = await write(asked);
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
async function stepOf(subscription: Subscription, period: CalendarPeriod, dir: string): Promise<Step> {
  const { step, options: given } = subscription;
  const month = { month: formatMonth(period.start) };
  if (step === 'statement') return { name: step, options: { ...given, ...month } };
  const has = await parametersOfReport(subscription, dir);
  const [from = '', to = ''] = [period.start, period.end].map((at) => formatInstant(at).slice(0, 10));
  if (has.includes('from') && has.includes('to')) return { name: step, options: { ...given, from, to } };
  return { name: step, options: { ...given, ...(has.includes('month') ? month : {}) } };
}

/** The names of the parameters of its report; a statement has none. */
export async function parametersOfReport(
  { step, options: { name } }: Subscription,
  dir: string,
): Promise<readonly string[]> {
  const reports = step === 'report' ? await readReports(join(dir, 'sql')) : [];
  return reports.find((report) => report.name === name)?.parameters.map((parameter) => parameter.name) ?? [];
}
