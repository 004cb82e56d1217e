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
import { type ClosedMonth, closedMonths } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { NewMessage } from '../warehouse/watch/index.ts';
import { newMessage } from './message.ts';
import { type AlertingContext, originOf } from './notify.ts';
import { askedBy, sinkOfSubscription } from './subscriptions.ts';

/** A subscription with a period. */
export interface SubscriptionOfPeriod {
  readonly subscription: Subscription;
  readonly period: CalendarPeriod;
  /** Names what is sent: once for each subscription and period. */
  readonly key: string;
}

/** What a step wrote: the folder of its export, and USD; null if the manifest has them. */
export interface WrittenFiles {
  readonly folder: string;
  readonly amount: string | null;
}

const kinds = { day: 'daily', week: 'weekly', month: 'monthly' } as const;

/** A period that a subscription is about, and the run that closed it, if it is about closes. */
interface Candidate {
  readonly period: CalendarPeriod;
  readonly closedBy: number | undefined;
}

/** The last period of a subscription; of one to closes, each closed month. The newest is first. */
function candidatesOf(
  { every }: Subscription,
  { completeThrough }: CompletenessState,
  closed: readonly ClosedMonth[],
): readonly Candidate[] {
  if (every === 'close') {
    const { periodAt } = calendarOf('monthly');
    return closed.toReversed().map(({ month, runNumber }) => ({ period: periodAt(month), closedBy: runNumber }));
  }
  if (completeThrough === null) return [];
  const calendar = calendarOf(kinds[every]);
  const period = calendar.periodAt(calendar.periodAt(Date.parse(completeThrough)).start - 1);
  return [{ period, closedBy: undefined }];
}

/** The periods of each subscription in the books, and the state of the books. */
async function candidatesIn(subscriptions: readonly Subscription[], connection: Connection) {
  const state = await completenessOf(connection);
  const closed = await closedMonths(connection);
  const all = subscriptions.map((one) => ({ subscription: one, candidates: candidatesOf(one, state, closed) }));
  return { all, state };
}

/** The last period of each subscription in the books. */
export async function periodsOfSubscriptions(subscriptions: readonly Subscription[], connection: Connection) {
  const { all } = await candidatesIn(subscriptions, connection);
  return all.map(({ subscription, candidates }) => ({ subscription, period: candidates[0]?.period }));
}

/**
 * What was not sent yet, and the state of the books. A month that was closed again since its mail is due again. If several
 * were closed since the last mail of a close, all of them are due; before the first mail, the newest one alone.
 */
export async function dueSubscriptions(
  subscriptions: readonly Subscription[],
  connection: Connection,
  { sinksOfSummary }: Pick<Warehouse, 'sinksOfSummary'>,
) {
  const { all, state } = await candidatesIn(subscriptions, connection);
  const due: SubscriptionOfPeriod[] = [];
  for (const { subscription, candidates } of all) {
    const unsent: SubscriptionOfPeriod[] = [];
    let isFirst = true;
    for (const { period, closedBy = 0 } of candidates) {
      const key = `subscription/${subscription.name}/${period.name}`;
      const sentBy = (await sinksOfSummary(key)).get(sinkOfSubscription(subscription.name));
      isFirst = sentBy === undefined || sentBy < closedBy;
      if (!isFirst) break;
      unsent.unshift({ subscription, period, key });
    }
    due.push(...(isFirst ? unsent.slice(-1) : unsent));
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
  // An export keeps the formats that it had before, which others may have asked for.
  const formats = given['format'] === undefined ? undefined : ['metadata', ...String(given['format']).split(',')];
  const files = manifest.files.filter(({ format }) => formats?.includes(format) ?? true);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
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
    files: files.map((file) => ({
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
