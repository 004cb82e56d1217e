import { isOfResources, isPlaceIn } from '../budgets/forecasts/index.ts';
import { type BudgetScope, exclusionRule, parseDay, readScope, scopeWords } from '../budgets/rules/index.ts';
import { costsOf } from '../budgets/spend/index.ts';
import { oneLine } from '../text/safe-text.ts';
import { dayMs, dayName, dayNamed, type Instant } from '../time/time.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { AnomalyRow } from '../warehouse/watch/index.ts';
import { type Given, itemsOf, keysOf, type Place, type Problems, parseText, readValue } from '../yaml/index.ts';
import type { AnomalyDetail, ExcludedBy } from './detail.ts';
import type { DetectionRules } from './detect.ts';
import { type Scope, scopeOf } from './scope.ts';

/** Costs whose anomalies raise no alert. */
export interface Exclusion extends ExcludedBy {
  /** At least one key. */
  readonly scope: BudgetScope;
}

/** The rules that decide what an exclusion covers. */
type Rules = Pick<DetectionRules, 'minAmount' | 'minShare'> & { readonly exclude: readonly Exclusion[] };

/** A reason has at most so many characters. */
const maxReason = 300;

/** The exclusions of a budget file. */
export function readExclusions(given: Given | undefined, problems: Problems): readonly Exclusion[] {
  if (given === undefined) return [];
  const exclusions: Exclusion[] = [];
  for (const item of itemsOf(given, `a list of exclusions such as - ${exclusionRule.expected}`, problems)) {
    const keys = keysOf(item, exclusionRule, problems);
    if (keys === undefined) continue;
    for (const key of ['scope', 'reason']) {
      if (!keys.has(key))
        problems.report(item, `found no ${key}, expected one as in ${exclusionRule.expected}; add it`);
    }
    const places = new Map<string, Place>();
    const scope = readScope(keys.get('scope'), places, problems);
    const scopeGiven = keys.get('scope');
    if (scopeGiven !== undefined && isEmpty(scopeGiven)) {
      problems.report(
        scopeGiven,
        'found no key, expected one such as workspace: research; enabled: false excludes all',
      );
    }
    const until = readValue(keys.get('until'), (value) => parseDay(parseText(value, 100)), problems);
    const reason = readValue(keys.get('reason'), (value) => parseText(value, maxReason), problems);
    if (reason === undefined) continue;
    exclusions.push({ scope, until: until === undefined ? null : dayName(until / dayMs), reason });
  }
  return exclusions;
}

function isEmpty({ value }: Given): boolean {
  return value === null || (typeof value === 'object' && value?.kind === 'mapping' && value.entries.length === 0);
}

/** The exclusion that covers an anomaly, as the books have it; undefined if none does. Pure. */
export function excludedOf({ detail }: Pick<AnomalyRow, 'detail'>): AnomalyDetail['excluded'] {
  return (JSON.parse(detail) as AnomalyDetail).excluded;
}

/** Whether an exclusion has ended: it acts on no day from today on. */
export function hasExpired({ until }: Pick<Exclusion, 'until'>, now: Instant): boolean {
  return until !== null && dayNamed(until) < Math.floor(now / dayMs);
}

/** `Excluded through 2026-12-31: tests of the launch`. Pure. */
export function excludedWords({ until, reason }: ExcludedBy): string {
  return `Excluded${until === null ? '' : ` through ${until}`}: ${oneLine(reason, maxReason)}`;
}

/** An exclusion as a line: its scope, its end and its reason. Pure. */
export function exclusionWords({ scope, until, reason }: Exclusion, now: Instant): string {
  const end = until === null ? '' : hasExpired({ until }, now) ? `, ended on ${until}` : `, through ${until}`;
  return `${scopeWords(scope)}${end}: ${oneLine(reason, maxReason)}`;
}

/** The exclusions of a file as data. Pure. */
export function exclusionsJson(exclude: readonly Exclusion[], now: Instant) {
  return exclude.map((one) => ({ ...one, hasExpired: hasExpired(one, now) }));
}

/**
 * Marks the anomalies that an exclusion covers on their last day so far, and no others; those that ended earlier stay as they
 * are. An exclusion of resources covers an anomaly if the rest of it is usual. Returns the rows that it changed.
 */
export async function markExcluded(
  connection: Connection,
  { present, changed }: { readonly present: readonly AnomalyRow[]; readonly changed: readonly AnomalyRow[] },
  rules: Rules,
): Promise<AnomalyRow[]> {
  const keys = new Set(changed.map(({ anomaly_key }) => anomaly_key));
  const marked: AnomalyRow[] = [];
  for (const row of present.filter((one) => one.state === 'open' || keys.has(one.anomaly_key))) {
    const { excluded: _, formerlyExcluded: __, ...detail } = JSON.parse(row.detail) as AnomalyDetail;
    const found = await exclusionOf(connection, row, rules);
    const excluded = found && { reason: found.reason, until: found.until };
    const formerlyExcluded = found === undefined ? endedExclusionOf(row, rules) : undefined;
    const now = JSON.stringify({ ...detail, excluded, formerlyExcluded });
    if (now !== JSON.stringify(JSON.parse(row.detail))) marked.push({ ...row, detail: now });
  }
  return marked;
}

async function exclusionOf(connection: Connection, row: AnomalyRow, rules: Rules): Promise<Exclusion | undefined> {
  for (const exclusion of rules.exclude) {
    if (!isExcludedPlace(exclusion, scopeOf({ ...row }), row.last_day)) continue;
    if (!isOfResources(exclusion.scope) || (await isRestUsual(connection, row, exclusion.scope, rules)))
      return exclusion;
  }
  return undefined;
}

/** The last exclusion of the place of these costs that ended before their last day, in the month before it or since. */
function endedExclusionOf(row: AnomalyRow, { exclude }: Rules): ExcludedBy | undefined {
  const place = scopeOf({ ...row });
  const [last] = exclude
    .flatMap(({ scope, until, reason }) =>
      until !== null && until < row.last_day && isPlaceIn(scope, place) ? [{ reason, until }] : [],
    )
    .toSorted((a, b) => b.until.localeCompare(a.until));
  return last !== undefined && dayNamed(row.first_day) - dayNamed(last.until) <= usualDays ? last : undefined;
}

/** Whether an exclusion acts on a day, in the place of these costs; of which resources is left open. Pure. */
export function isExcludedPlace({ scope, until }: Exclusion, place: Scope, day: string): boolean {
  return (until === null || day <= until) && isPlaceIn(scope, place);
}

/** Days before an anomaly that say what its resources usually cost. */
const usualDays = 28;
/** An exclusion must explain this share of an anomaly. */
const leastExplained = 0.5;

/**
 * Whether an anomaly without the resources in a scope would be none, over all its days and on the last one. What they usually cost is
 * their part of the weeks before.
 */
async function isRestUsual(
  connection: Connection,
  row: AnomalyRow,
  scope: BudgetScope,
  { minAmount, minShare }: Rules,
): Promise<boolean> {
  const one = (value: string | null) => (value === null ? undefined : [value]);
  const place = Object.fromEntries(
    Object.entries({
      ...{ account: one(row.account), workspace: one(row.workspace) },
      ...{ resource_type: one(row.resource_type), billing_dimension: one(row.billing_dimension) },
    }).filter(([, value]) => value !== undefined),
  );
  const [start, end] = [dayNamed(row.first_day) * dayMs, (dayNamed(row.last_day) + 1) * dayMs];
  const windows = [
    { start, end },
    { start: start - usualDays * dayMs, end: start },
    { start: end - dayMs, end },
  ];
  const costs = await costsOf(
    connection,
    [{ ...scope, ...place }, place].flatMap((of) => windows.map((window) => ({ budget: { scope: of }, ...window }))),
  );
  const [own = 0, ownBefore = 0, ownLast = 0, all = 0, allBefore = 0, allLast = 0] = costs.map(
    (cost) => Number(cost?.total ?? 0n) / 1e12,
  );
  const [impact, days, sign] = [Number(row.impact), (end - start) / dayMs, row.is_up ? 1 : -1];
  const expected = Math.max(0, all - impact);
  const ownExpected = allBefore > 0 ? (expected * ownBefore) / allBefore : 0;
  const explained = sign * (own - ownExpected);
  const rest = (sign * impact - explained) / days;
  const least = Math.max(minAmount, (minShare * (expected - ownExpected)) / days);
  // What began late is small beside many days.
  const restLast = sign * (allLast - ownLast - (expected - ownExpected) / days);
  return explained >= leastExplained * sign * impact && Math.max(rest, restLast) < least;
}
