import { type AnomalyFact, type AnomalyRules, anomalySubject, daysAround, usualRules } from '../anomalies/index.ts';
import type { Log } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import { burnUpRows, readBurnUp, type ScopeForecast } from '../budgets/forecasts/index.ts';
import { type Budget, budgetCalendar } from '../budgets/rules/index.ts';
import { readSpends, type SpendsAsked, withCarried } from '../budgets/spend/index.ts';
import type { Picture } from '../charts/index.ts';
import type { Sink } from '../config/index.ts';
import { type AlertFact, alertRows, type Transitions } from '../findings/index.ts';
import { decimalOfWhole, wholeOfDecimal } from '../money/money.ts';
import { completenessOf } from '../reports/formats/index.ts';
import { type MessagePicture, showsPictures } from '../sinks/index.ts';
import { textOrNull } from '../tables/optional-text.ts';
import { maxNameLength, oneLine } from '../text/safe-text.ts';
import { comparedWith } from '../time/compared.ts';
import { addCalendarMonths, floorMonth, formatInstant, hourMs, type Instant } from '../time/time.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import { inOrder } from './message.ts';
import type { SummaryPeriod } from './summary.ts';

/** A message has at most this many pictures, those of its first alerts. */
export const maxPictures = 3;
/** Everything that pictures depend on besides the books. */
export interface PicturesAsked extends SpendsAsked {
  /** Undefined if budgets are unknown: they have no pictures. */
  readonly budgets: readonly Budget[] | undefined;
  readonly anomalyRules?: AnomalyRules | undefined;
  /** Of budgets; one without a forecast here shows the one of its alert. */
  readonly forecasts: readonly ScopeForecast[];
  readonly log: Log;
}

/**
 * The pictures of the first alerts of each message, for the sinks that show pictures. A picture that cannot be made is
 * left out, and the log says why: no picture may stop a message.
 */
export async function readPictures(
  connection: Connection,
  entries: Transitions['entries'],
  sinks: readonly Pick<Sink, 'name' | 'settings'>[],
  asked: PicturesAsked,
): Promise<(sink: string) => readonly MessagePicture[]> {
  const showing = sinks.flatMap(({ name, settings }) => (showsPictures(settings) ? [name] : []));
  const wanted = new Map<string, AlertFact>();
  for (const sink of showing) {
    const drawable = inOrder(entries, sink).filter(({ fact }) => fact.kind === 'budget' || fact.kind === 'anomaly');
    for (const { key, fact } of drawable.slice(0, maxPictures)) wanted.set(key, fact);
  }
  const pictures: MessagePicture[] = [];
  for (const [key, fact] of wanted) {
    const picture = await orNone(key, asked.log, () => pictureOf(connection, fact, asked));
    if (picture !== undefined) pictures.push({ key, picture });
  }
  return (sink) => (showing.includes(sink) ? pictures : []);
}

/** The picture of one alert; undefined if its kind has none. Throws if the books do not answer. */
async function pictureOf(connection: Connection, fact: AlertFact, asked: PicturesAsked): Promise<Picture | undefined> {
  if (fact.kind === 'budget') return budgetPicture(connection, fact, asked);
  return fact.kind === 'anomaly' ? anomalyPicture(connection, fact, asked) : undefined;
}

async function orNone<T>(key: string, log: Log, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    log.warn('alert.no_picture', 'Could not make the picture of a message', { key, reason: messageOf(error) });
    return undefined;
  }
}

async function budgetPicture(
  connection: Connection,
  fact: Extract<AlertFact, { readonly kind: 'budget' }>,
  { budgets = [], forecasts, ...asked }: PicturesAsked,
): Promise<Picture | undefined> {
  const own = budgets.filter(({ name }) => name === fact.budget);
  const [budget] = await withCarried(connection, own, asked);
  // A cost per unit does not add up over its period.
  if (budget === undefined || budget.per !== undefined) return undefined;
  const period = budgetCalendar(budget).periodAt(Date.parse(fact.periodStart));
  const [spend] = await readSpends(connection, [{ budget, period }], asked);
  if (spend === undefined) return undefined;
  const { completeThrough } = spend;
  const steps = await readBurnUp(connection, budget, period, completeThrough ?? period.start);
  const known = forecasts.find(
    ({ scope, period: { start } }) =>
      scope.kind === 'budget' && scope.budget.name === budget.name && start === period.start,
  );
  const { burnUp } = await import('../charts/index.ts');
  const rows = burnUpRows(budget, spend, steps, known?.forecast ?? { kind: 'none' });
  const ofFact = fact.forecast && { mean: fact.forecast.value, low: fact.forecast.low, high: fact.forecast.high };
  return {
    shape: 'month',
    completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
    ...burnUp({ ...rows, forecast: rows.forecast ?? ofFact ?? undefined }),
  };
}

async function anomalyPicture(
  connection: Connection,
  fact: AnomalyFact,
  { anomalyRules }: PicturesAsked,
): Promise<Picture> {
  const { completeThrough } = await completenessOf(connection);
  const [books = {}] = await alertRows(connection, 'history_start', {});
  // Of several anomalies of one cause, the sum of their days.
  const scopes = (fact.parts ?? [fact]).map(({ workspace, resourceType, billingDimension }) => ({
    ...{ account: fact.account, workspace, resource_type: resourceType, billing_dimension: billingDimension },
  }));
  const around = await daysAround(
    { ...fact, historyStart: textOrNull(books['history_start']), completeThrough },
    async (window) => {
      const rows: SqlRow[] = [];
      for (const scope of scopes) {
        rows.push(...(await alertRows(connection, 'picture_anomaly_days', { ...scope, ...window })));
      }
      return scopes.length === 1 ? rows : summedByDay(rows);
    },
  );
  const { anomalyDays } = await import('../charts/index.ts');
  const subject = oneLine(anomalySubject(fact), maxNameLength);
  const usual = around.usual(anomalyRules ?? usualRules);
  return { shape: 'band', completeThrough, ...anomalyDays({ ...fact, ...around, subject, usual }) };
}

/** The rows of several scopes, each day once. Usage is left out: its units may differ. Pure. */
export function summedByDay(rows: readonly SqlRow[]): SqlRow[] {
  const costs = new Map<string, bigint>();
  for (const { day, cost } of rows) {
    costs.set(String(day), (costs.get(String(day)) ?? 0n) + wholeOfDecimal(String(cost), sumDecimals));
  }
  return [...costs].map(([day, cost]) => ({ day, cost: decimalOfWhole(cost, sumDecimals), usage: null }));
}

/** Decimals of sums in the books. */
const sumDecimals = 12;

/** The picture of a summary: the month so far for a week, the whole month for a month. */
export async function readSummaryPicture(
  connection: Connection,
  kind: SummaryPeriod,
  now: Instant,
  log: Log,
): Promise<readonly MessagePicture[]> {
  const picture = await orNone(`summary ${kind}`, log, () => summaryPicture(connection, kind, now));
  return picture === undefined ? [] : [{ key: null, picture }];
}

async function summaryPicture(connection: Connection, kind: SummaryPeriod, now: Instant): Promise<Picture | undefined> {
  const { completeThrough } = await completenessOf(connection);
  if (completeThrough === null) return undefined;
  const complete = Date.parse(completeThrough);
  const start = kind === 'monthly' ? addCalendarMonths(floorMonth(now), -1) : floorMonth(complete - hourMs);
  const end = addCalendarMonths(start, 1);
  const through = Math.min(complete, end);
  const [books = {}] = await alertRows(connection, 'history_start', {});
  const historyStart = Date.parse(textOrNull(books['history_start']) ?? completeThrough);
  // A month of which the books have only the end did not cost what they have.
  if (through <= start || (kind === 'monthly' && historyStart > start)) return undefined;
  const beforeStart = addCalendarMonths(start, -1);
  const compared = comparedWith({ start, end: through }, { completeFrom: historyStart });
  const present = await daysOf(connection, start, through);
  const [found] =
    through === end ? [] : await alertRows(connection, 'picture_forecast', { month: formatInstant(start) });
  const { runningMonth } = await import('../charts/index.ts');
  return {
    shape: 'month',
    completeThrough,
    ...runningMonth({
      ...{ start, through },
      spent: present.total,
      before:
        compared.kind === 'none'
          ? undefined
          : (await daysOf(connection, compared.before.start, compared.before.end)).total,
      days: present.days,
      daysBefore: (await daysOf(connection, beforeStart, start)).days,
      forecast: found && {
        mean: String(found['forecast']),
        low: String(found['low']),
        high: String(found['high']),
        amount: found['amount'] === null ? null : String(found['amount']),
      },
    }),
  };
}

/** The costs of a window, by day and in total: USD, decimal text. */
async function daysOf(connection: Connection, from: Instant, to: Instant) {
  const rows = await alertRows(connection, 'picture_days', { from: formatInstant(from), to: formatInstant(to) });
  const costs = rows.map((row) => [textOrNull(row['day']), String(row['cost'])] as const);
  return {
    days: new Map(costs.flatMap(([day, cost]) => (day === null ? [] : [[day, cost] as const]))),
    total: costs.find(([day]) => day === null)?.[1] ?? '0',
  };
}
