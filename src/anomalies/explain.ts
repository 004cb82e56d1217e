import { textOrNull } from '../tables/optional-text.ts';
import { dayName, formatInstant, hourMs } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import { deploymentsBefore } from './deployments.ts';
import type { AnomalyDetail, Explanation } from './detail.ts';
import type { Episode } from './detect.ts';
import { usdText } from './fact.ts';
import type { Scope } from './scope.ts';

/** The explanation of an episode, and the exact cost of its first day. */
export interface Explained extends Explanation {
  /** USD, decimal text. */
  readonly cost: string;
}

/** An episode, and the expected cost of all its days so far in USD. */
export interface ToExplain {
  readonly scope: Scope;
  readonly episode: Episode;
  readonly expectedSoFar: number;
}

/** The most resources that an anomaly lists. */
const driverCount = 5;
/** Deployments of resources with at least this percentage of the difference are of interest. */
const leastPart = 10;
/** If price or usage alone causes this share of the difference, only that one changed. */
const alone = 0.75;

/**
 * Explains episodes from the books, in order: which resources drive them, whether price or usage changed, and in which
 * hour of the first day they started. `merged`: the accounts, as JSON, whose rows without UUID are in no workspace.
 */
export async function explain(
  connection: Connection,
  asked: readonly ToExplain[],
  merged: string,
): Promise<Explained[]> {
  if (asked.length === 0) return [];
  const anomalies = JSON.stringify(
    asked.map(({ scope, episode, expectedSoFar }, anomaly) => ({
      ...askedOf(scope),
      anomaly,
      day: dayName(episode.firstDay),
      last_day: dayName(episode.lastDay),
      expected: expectedSoFar,
    })),
  );
  const drivers = await connection.rows(await readSql('anomalies', 'drivers'), {
    anomalies,
    merged,
    drivers: driverCount,
  });
  const hours = await connection.rows(await readSql('anomalies', 'hours'), { anomalies, merged });
  const driversOf = byAnomaly(drivers);
  const hoursOf = byAnomaly(hours);
  const found = asked.map(({ episode, expectedSoFar }, anomaly) =>
    explained(episode, expectedSoFar, driversOf.get(anomaly) ?? [], hoursOf.get(anomaly) ?? []),
  );
  return withDeployments(connection, asked, found);
}

/** Adds what was deployed or changed of the drivers before. */
async function withDeployments(
  connection: Connection,
  asked: readonly ToExplain[],
  found: readonly Explained[],
): Promise<Explained[]> {
  const names = found.map(({ drivers }) => drivers.filter(({ part }) => part >= leastPart));
  const anomalies = found.map(({ firstHour }, anomaly) => ({
    anomaly,
    account: asked[anomaly]?.scope.account,
    workspace: asked[anomaly]?.scope.workspace,
    resource_type: asked[anomaly]?.scope.resourceType,
    first_hour: firstHour,
    names: names[anomaly]?.flatMap(({ resourceName }) => resourceName ?? []),
  }));
  const rows = await connection.rows(await readSql('anomalies', 'changes'), { anomalies: JSON.stringify(anomalies) });
  const rowsOf = byAnomaly(rows);
  return found.map((explanation, anomaly) => {
    const own = rowsOf.get(anomaly) ?? [];
    const { firstHour, drivers } = explanation;
    if (firstHour === null) return explanation;
    const ofDrivers = drivers.flatMap(({ part, resourceName }) => (part >= leastPart ? [resourceName] : []));
    return { ...explanation, ...deploymentsBefore(own, firstHour, ofDrivers) };
  });
}

function byAnomaly(rows: readonly SqlRow[]): ReadonlyMap<number, SqlRow[]> {
  const found = new Map<number, SqlRow[]>();
  for (const row of rows) {
    const anomaly = Number(row['anomaly']);
    const own = found.get(anomaly);
    if (own === undefined) found.set(anomaly, [row]);
    else own.push(row);
  }
  return found;
}

function explained(
  episode: Episode,
  expectedSoFar: number,
  rows: readonly SqlRow[],
  hours: readonly SqlRow[],
): Explained {
  const whole = rows.find((row) => Number(row['place']) === 0);
  const costSoFar = String(whole?.['cost'] ?? noCost);
  const difference = Number(costSoFar) - expectedSoFar;
  return {
    cost: String(whole?.['first_cost'] ?? noCost),
    costSoFar,
    ...beginning(episode, hours),
    ...effects(episode.kind, { cost: Number(costSoFar), expected: expectedSoFar }, whole),
    drivers: rows
      .filter((row) => Number(row['place']) > 0)
      .map((row) => {
        const expected = Number(row['expected']);
        const part = difference === 0 ? 0 : (Number(row['cost']) - expected) / difference;
        return {
          resourceName: textOrNull(row['resource_name']),
          resourceUuid: textOrNull(row['resource_uuid']),
          cost: String(row['cost']),
          expected: usdText(expected),
          part: Math.round(part * 1000) / 10,
        };
      }),
  };
}

/**
 * When the first day's difference started, and at what pace it ran on. The start is the change point of the day: the hour
 * from which a level of its own explains most of the differences, so that the noise of usual hours moves it nowhere. The expected
 * cost of the day is spread over its hours as in the weeks before. Pure.
 */
export function beginning(
  { firstDay, expected, isUp }: Pick<Episode, 'firstDay' | 'expected' | 'isUp'>,
  rows: readonly SqlRow[],
): Pick<AnomalyDetail, 'firstHour' | 'pace'> {
  if (rows.length === 0) return { firstHour: null, pace: null };
  const base = rows.reduce((sum, row) => sum + Number(row['base_cost']), 0);
  const differences = Array.from({ length: 24 }, (_, hour) => {
    const row = rows.find((candidate) => Number(candidate['hour']) === hour);
    const usual = base > 0 ? (expected * Number(row?.['base_cost'] ?? 0)) / base : 0;
    return (Number(row?.['cost'] ?? 0) - usual) * (isUp ? 1 : -1);
  });
  const { hour: best, sum: bestSum } = changePoint(differences);
  // A single hour may be a batch; two say a little more.
  const mean = bestSum / Math.max(2, 24 - best);
  const isRunning = isUp && bestSum > 0 && (differences[23] ?? 0) >= mean / 2;
  return {
    firstHour: formatInstant(firstDay * 24 * hourMs + best * hourMs),
    pace: isRunning ? usdText(24 * mean) : null,
  };
}

/** A started hour costs less than a whole one: it belongs to the level after it from this share of it on. */
const leastShareOfLevel = 0.1;

/**
 * The hour from which the differences have a mean that explains most of their squares, and their sum from then on. The first
 * hour with a difference if none is above 0.
 */
function changePoint(differences: readonly number[]): { readonly hour: number; readonly sum: number } {
  let best = { hour: 0, sum: 0, explained: 0 };
  let sum = 0;
  for (let hour = differences.length - 1; hour >= 0; hour -= 1) {
    sum += differences[hour] ?? 0;
    const explained = sum > 0 ? sum ** 2 / (differences.length - hour) : 0;
    if (explained > best.explained + 1e-9) best = { hour, sum, explained };
  }
  const level = best.sum / (differences.length - best.hour);
  while (best.hour > 0 && (differences[best.hour - 1] ?? 0) > leastShareOfLevel * level) {
    best = { ...best, hour: best.hour - 1, sum: best.sum + (differences[best.hour - 1] ?? 0) };
  }
  return best;
}

/** The paces at which episodes still ran at the end of their first days, USD a day, by key; missing if they did not. */
export async function pacesOf(
  connection: Connection,
  asked: readonly { readonly key: string; readonly scope: Scope; readonly episode: Episode }[],
): Promise<ReadonlyMap<string, number>> {
  if (asked.length === 0) return new Map();
  const anomalies = JSON.stringify(
    asked.map(({ scope, episode }, anomaly) => ({ ...askedOf(scope), anomaly, day: dayName(episode.firstDay) })),
  );
  const hours = byAnomaly(await connection.rows(await readSql('anomalies', 'hours'), { anomalies, merged: '[]' }));
  return new Map(
    asked.flatMap(({ key, episode }, anomaly) => {
      const { pace } = beginning(episode, hours.get(anomaly) ?? []);
      return pace === null || pace === undefined ? [] : [[key, Number(pace)] as const];
    }),
  );
}

function askedOf({ account, workspace, resourceType, billingDimension }: Scope) {
  return { account, workspace, resource_type: resourceType, billing_dimension: billingDimension };
}

const noCost = '0.000000000000';

/** The effects of price and usage on the difference, as in the report price_volume. */
function effects(
  kind: Episode['kind'],
  { cost, expected }: { readonly cost: number; readonly expected: number },
  whole: SqlRow | undefined,
): Pick<AnomalyDetail, 'moved' | 'priceEffect' | 'volumeEffect'> {
  const [usage, baseCost, baseUsage] = ['usage', 'base_cost', 'base_usage'].map((name) => Number(whole?.[name] ?? 0));
  const unknown = { moved: null, priceEffect: null, volumeEffect: null };
  if (usage === undefined || baseCost === undefined || baseUsage === undefined || baseUsage <= 0 || baseCost <= 0)
    return unknown;
  const difference = cost - expected;
  const oldPrice = kind === 'price' && usage > 0 ? expected / usage : baseCost / baseUsage;
  const price = usage > 0 ? cost - oldPrice * usage : 0;
  const volume = difference - price;
  if (![price, volume].every(Number.isFinite) || difference === 0) return unknown;
  const moved = price / difference >= alone ? 'price' : volume / difference >= alone ? 'usage' : 'both';
  return { moved, priceEffect: usdText(price), volumeEffect: usdText(volume) };
}
