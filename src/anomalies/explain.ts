import { textOrNull } from '../tables/optional-text.ts';
import { dayName } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import { beginning, hoursOfBeginning } from './beginning.ts';
import { deploymentsBefore } from './deployments.ts';
import type { AnomalyDetail, Explanation } from './detail.ts';
import type { Episode } from './detect.ts';
import { usdText } from './fact.ts';
import { readHoursOf } from './hours-of-scopes.ts';
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
  const driversOf = byAnomaly(drivers);
  const beginnings = await beginningsOf(connection, asked, merged);
  const found = asked.map(
    ({ episode, expectedSoFar }, anomaly): Explained => ({
      ...{ firstHour: null, pace: null, ...beginnings[anomaly] },
      ...explained(episode, expectedSoFar, driversOf.get(anomaly) ?? []),
    }),
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
): Omit<Explained, 'firstHour' | 'pace'> {
  const whole = rows.find((row) => Number(row['place']) === 0);
  const costSoFar = String(whole?.['cost'] ?? noCost);
  const difference = Number(costSoFar) - expectedSoFar;
  return {
    cost: String(whole?.['first_cost'] ?? noCost),
    costSoFar,
    largestDay: String(whole?.['largest_day'] ?? noCost),
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

/** The paces at which episodes still ran at the end of their first days, USD a day, by key; missing if they did not. */
export async function pacesOf(
  connection: Connection,
  asked: readonly { readonly key: string; readonly scope: Scope; readonly episode: Episode }[],
): Promise<ReadonlyMap<string, number>> {
  if (asked.length === 0) return new Map();
  const beginnings = await beginningsOf(connection, asked, '[]');
  return new Map(
    asked.flatMap(({ key }, anomaly) => {
      const { pace } = beginnings[anomaly] ?? {};
      return pace === null || pace === undefined ? [] : [[key, Number(pace)] as const];
    }),
  );
}

/** When each episode started, and its pace; both null if it has no costs at all. */
async function beginningsOf(
  connection: Connection,
  asked: readonly { readonly scope: Scope; readonly episode: Episode }[],
  merged: string,
): Promise<Pick<Explained, 'firstHour' | 'pace'>[]> {
  const hours = await readHoursOf(
    connection,
    asked.map(({ scope, episode }) => ({ scope, ...hoursOfBeginning(episode) })),
    merged,
  );
  return asked.map(({ episode }, place) => {
    const own = hours[place];
    if (own === undefined || own.costs.every((cost) => cost === 0)) return { firstHour: null, pace: null };
    return beginning(episode, own);
  });
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
): Pick<AnomalyDetail, 'moved' | 'priceEffect' | 'volumeEffect' | 'prices'> {
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
  const prices = { before: oldPrice.toFixed(12), since: (cost / usage).toFixed(12) };
  return { moved, priceEffect: usdText(price), volumeEffect: usdText(volume), ...(moved === 'price' && { prices }) };
}
