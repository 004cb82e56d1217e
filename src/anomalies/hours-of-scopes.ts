import { formatInstant, hourMs } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { HourlyCosts } from './hourly-watch.ts';
import type { Scope } from './scope.ts';

/** The hours of a scope to read: numbers since 1970-01-01T00:00Z, without `to`. */
export interface HoursAsked {
  readonly scope: Scope;
  readonly from: number;
  readonly to: number;
}

/** The hourly costs of scopes, in order. `merged`: the accounts, as JSON, whose rows without UUID are in no workspace. */
export async function readHoursOf(
  connection: Connection,
  asked: readonly HoursAsked[],
  merged: string,
): Promise<HourlyCosts[]> {
  if (asked.length === 0) return [];
  const rows = await connection.rows(await readSql('anomalies', 'hours_of_scopes'), {
    merged,
    scopes: JSON.stringify(
      asked.map(({ scope, from, to }, place) => ({
        ...{ place, account: scope.account, workspace: scope.workspace },
        ...{ resource_type: scope.resourceType, billing_dimension: scope.billingDimension },
        ...{ starts_at: formatInstant(from * hourMs), ends_at: formatInstant(to * hourMs) },
      })),
    ),
  });
  const rowAt = new Map(rows.map((row) => [Number(row['place']), row]));
  return asked.map(({ from, to }, place) => {
    const costs = new Array<number>(Math.max(0, to - from)).fill(0);
    const row = rowAt.get(place);
    const [hours = [], amounts = []] = ['hours', 'costs'].map(
      (name) => JSON.parse(String(row?.[name] ?? '[]')) as number[],
    );
    for (const [index, hour] of hours.entries()) costs[hour - from] = amounts[index] ?? 0;
    return { firstHour: from, costs };
  });
}
