import { formatInstant, hourMs } from '../../time.ts';
import { type Connection, readSql, type SqlRow } from '../../warehouse/index.ts';
import { dayName } from './days.ts';
import type { Episode } from './detect.ts';
import type { AnomalyDetail } from './fact.ts';
import type { Scope } from './scope.ts';

/** What stands behind an episode, and the exact cost of its first day. */
export interface Explained extends Omit<AnomalyDetail, 'impacts'> {
  /** USD, decimal text. */
  readonly cost: string;
}

/** So many resources stand beside an anomaly. */
const driverCount = 5;
/** Where one of price and usage makes so much of a difference, it alone is what moved. */
const alone = 0.75;

/** Explains episodes by the books, in their order: who drives the first day, from which hour on, and whether price or usage moved. */
export async function explain(
  connection: Connection,
  asked: readonly { readonly scope: Scope; readonly episode: Episode }[],
): Promise<Explained[]> {
  if (asked.length === 0) return [];
  const anomalies = JSON.stringify(
    asked.map(({ scope, episode }, anomaly) => ({
      anomaly,
      account: scope.account,
      workspace: scope.workspace,
      resource_type: scope.resourceType,
      billing_dimension: scope.billingDimension,
      day: dayName(episode.firstDay),
      expected: episode.expected,
    })),
  );
  const drivers = await connection.rows(await readSql('anomalies', 'drivers'), { anomalies, drivers: driverCount });
  const hours = await connection.rows(await readSql('anomalies', 'hours'), { anomalies });
  const driversOf = byAnomaly(drivers);
  const hoursOf = byAnomaly(hours);
  return asked.map(({ episode }, anomaly) =>
    explained(episode, driversOf.get(anomaly) ?? [], hoursOf.get(anomaly) ?? []),
  );
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

function explained(episode: Episode, rows: readonly SqlRow[], hours: readonly SqlRow[]): Explained {
  const whole = rows.find((row) => Number(row['place']) === 0);
  const difference = episode.cost - episode.expected;
  return {
    cost: String(whole?.['cost'] ?? '0.000000000000'),
    firstHour: firstHour(episode, hours),
    ...effects(episode, whole),
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
 * The hour from which on a day's hours, added up, differ most from those that were expected: those before it were as
 * usual. What is expected of a day is spread over its hours as in the weeks before.
 */
function firstHour({ firstDay, expected, isUp }: Episode, rows: readonly SqlRow[]): string | null {
  const base = rows.reduce((sum, row) => sum + Number(row['base_cost']), 0);
  let best = 0;
  let bestSum = 0;
  let sum = 0;
  for (let hour = 23; hour >= 0; hour -= 1) {
    const row = rows.find((candidate) => Number(candidate['hour']) === hour);
    const usual = base > 0 ? (expected * Number(row?.['base_cost'] ?? 0)) / base : 0;
    sum += (Number(row?.['cost'] ?? 0) - usual) * (isUp ? 1 : -1);
    // The earliest of equals, but for hours that differ by nothing.
    if (sum > bestSum + 1e-9) {
      best = hour;
      bestSum = sum;
    }
  }
  return rows.length === 0 ? null : formatInstant(firstDay * 24 * hourMs + best * hourMs);
}

/** What price and usage make of the difference, as the report price_volume splits it. */
function effects(
  episode: Episode,
  whole: SqlRow | undefined,
): Pick<AnomalyDetail, 'moved' | 'priceEffect' | 'volumeEffect'> {
  const [usage, baseCost, baseUsage] = ['usage', 'base_cost', 'base_usage'].map((name) => Number(whole?.[name] ?? 0));
  const unknown = { moved: null, priceEffect: null, volumeEffect: null };
  const { cost, expected } = episode;
  if (usage === undefined || baseCost === undefined || baseUsage === undefined || baseUsage <= 0 || expected <= 0)
    return unknown;
  const difference = cost - expected;
  const oldPrice = episode.kind === 'price' && usage > 0 ? expected / usage : baseCost / baseUsage;
  const price = usage > 0 ? cost - oldPrice * usage : 0;
  const volume = difference - price;
  if (![price, volume].every(Number.isFinite) || difference === 0) return unknown;
  const moved = price / difference >= alone ? 'price' : volume / difference >= alone ? 'usage' : 'both';
  return { moved, priceEffect: usdText(price), volumeEffect: usdText(volume) };
}

/** USD of an estimate as decimal text with the places that sums of the books have: to the millionth. */
export function usdText(usd: number): string {
  const text = usd.toFixed(6);
  return `${text === '-0.000000' ? '0.000000' : text}000000`;
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
