import type { AnomalyRow } from '../../warehouse/index.ts';
import type { Severity } from '../budget-file.ts';
import type { AnomalyKind, DetectionRules, Episode } from './detect.ts';

/** A resource and what of an anomaly's first day is its own. */
export interface AnomalyDriver {
  /** Null where the platform tells none. */
  readonly resourceName: string | null;
  readonly resourceUuid: string | null;
  /** USD of the first day, decimal text. */
  readonly cost: string;
  /** USD that were expected of it, decimal text. */
  readonly expected: string;
  /** What of the whole difference is its own, in percent; of resources that went the other way below 0. */
  readonly part: number;
}

/** What stands behind an anomaly, of its first day. */
export interface AnomalyDetail {
  /** USD by which each of its days differs from what was expected. */
  readonly impacts: readonly number[];
  /** The hour from which on the day differed: `2026-10-03T14:00:00Z`. */
  readonly firstHour: string | null;
  /** Whether the price of a unit or the usage moved, or both; null where that cannot be told. */
  readonly moved: 'price' | 'usage' | 'both' | null;
  /** USD that the price, and the usage, make of the difference, decimal text; as in the report price_volume. */
  readonly priceEffect: string | null;
  readonly volumeEffect: string | null;
  /** Those that moved most first. */
  readonly drivers: readonly AnomalyDriver[];
}

/** Something that was not as usual in the costs of a workspace's resource type along a billing dimension. */
export interface AnomalyFact extends Omit<AnomalyDetail, 'impacts'> {
  /** `anomaly/acc_main/research/sandbox/sandbox_compute_runtime_gbs/2026-10-03`. */
  readonly key: string;
  readonly kind: 'anomaly';
  readonly account: string;
  readonly severity: Severity;
  readonly notify: readonly string[];
  /** lapsed: what was told is over since long, or has become what is usual; that is told to nobody. */
  readonly state: 'raised' | 'resolved' | 'withdrawn' | 'lapsed';
  readonly completeThrough: string | null;
  readonly revision?: string | undefined;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
  readonly anomaly: AnomalyKind;
  readonly isUp: boolean;
  readonly firstDay: string;
  readonly lastDay: string;
  /** Whether it was over already when it was told first. */
  readonly isOver: boolean;
  /** Whether nothing is left of it after a restatement. */
  readonly isRestated: boolean;
  /** USD of the first day, and what was expected of it, decimal text. */
  readonly cost: string;
  readonly expected: string;
  readonly expectedLow: string;
  readonly expectedHigh: string;
  /** USD by which its days so far differ from what was expected, decimal text. */
  readonly impact: string;
}

/**
 * The facts of anomalies that somebody is to be told of, beside the keys that were told. One that is over is told all the
 * same where nobody was told of it before; what it became is told once, and never what is usual now. Pure.
 */
export function anomalyFacts(
  rows: readonly AnomalyRow[],
  told: ReadonlyMap<string, { readonly isOpen: boolean; readonly wasOver: boolean }>,
  {
    notify,
    completeThroughOf,
  }: { readonly notify: readonly string[]; completeThroughOf(account: string): string | null },
): AnomalyFact[] {
  return rows.flatMap((row): AnomalyFact[] => {
    const before = told.get(row.anomaly_key);
    const isEnded = row.state !== 'open';
    if (!row.is_told || before?.isOpen === false) return [];
    // Nobody is told what was restated away before it was told.
    if (before === undefined && row.state === 'restated') return [];
    const isQuiet = before?.wasOver === true || row.state === 'usual' || row.state === 'grown';
    const state = before === undefined || !isEnded ? 'raised' : isQuiet ? 'lapsed' : 'resolved';
    return [{ ...factOf(row, notify), state, completeThrough: completeThroughOf(row.account) }];
  });
}

function factOf(row: AnomalyRow, notify: readonly string[]): Omit<AnomalyFact, 'state' | 'completeThrough'> {
  const { impacts: _, ...detail } = JSON.parse(row.detail) as AnomalyDetail;
  return {
    key: row.anomaly_key,
    kind: 'anomaly',
    account: row.account,
    severity: row.severity as Severity,
    notify,
    workspace: row.workspace,
    resourceType: row.resource_type,
    billingDimension: row.billing_dimension,
    anomaly: row.kind as AnomalyKind,
    isUp: row.is_up,
    firstDay: row.first_day,
    lastDay: row.last_day,
    isOver: row.state !== 'open',
    isRestated: row.state === 'restated',
    cost: row.cost,
    expected: row.expected,
    expectedLow: row.expected_low,
    expectedHigh: row.expected_high,
    impact: row.impact,
    ...detail,
  };
}

/** Times the least amount from which on a day's difference is worth a warning, and is critical. */
const warningAmounts = 4;
const criticalAmounts = 20;
const hugeAmounts = 100;

/** How urgent an anomaly is, by what its first day differs: what is dearer more than what is new, and that more than what is gone. */
export function severityOf(
  { kind, isUp, impacts, expected, firstDay, seenDay }: Episode,
  rules: DetectionRules,
): Severity {
  const days = seenDay - firstDay + 1;
  const amount = Math.abs(impacts.slice(0, days).reduce((sum, impact) => sum + impact, 0)) / days / rules.minAmount;
  if (!isUp || kind === 'new')
    return (kind === 'new' || kind === 'drop') && amount >= criticalAmounts ? 'warning' : 'info';
  const isDouble = amount * rules.minAmount >= expected;
  if (amount >= hugeAmounts || (amount >= criticalAmounts && isDouble)) return 'critical';
  return amount >= warningAmounts ? 'warning' : 'info';
}
