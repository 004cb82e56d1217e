import { moneyOf, moneyText } from '../money/money.ts';
import { textOrNull } from '../tables/optional-text.ts';
import { nearTwins } from '../text/choices.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { type Condition, type Definition, defaultRule, type Rule } from './definition.ts';

/** The costs in the books that a rule matches. Amounts are decimal text in USD, before any split. */
export interface RuleCatch {
  readonly rule: string;
  /** How the rule splits its costs: cost, evenly, weights or usage; null if they have one owner. */
  readonly splitBy: string | null;
  readonly cost: string;
  /** Share of all cost, as decimal text; null if there is no cost. */
  readonly share: string | null;
  readonly resources: number;
  /** First and last hour that the rule matches; null if it matches nothing. */
  readonly firstHour: string | null;
  readonly lastHour: string | null;
}

/** An owner, and the cost allocated to it. */
export interface OwnerCost {
  /** A JSON object with the owner dimensions, in the order of the rules. */
  readonly owner: string;
  /** USD as decimal text. */
  readonly cost: string;
}

/** Values of one owner dimension that are probably the same: the most expensive one, and the others. */
export interface OwnerTwins {
  readonly dimension: string;
  readonly value: string;
  readonly cost: string;
  readonly twins: readonly { readonly value: string; readonly cost: string }[];
}

/** The effect of allocation rules on the costs in the books. */
export interface AllocationTest {
  /** In the order of the rules, then the default rule, then volumes whose mounters have several owners, if any. */
  readonly rules: readonly RuleCatch[];
  readonly cost: string;
  /** The total after allocation. It must be equal; otherwise there is a bug. */
  readonly allocatedCost: string;
  /** The part that has no owner. */
  readonly unallocatedCost: string;
  /** The cost of each owner, the most expensive first. */
  readonly owners: readonly OwnerCost[];
  readonly twins: readonly OwnerTwins[];
  /** Months of shared cost that was split evenly because no owner had any weight, or that has no owners. */
  readonly splits: readonly { readonly rule: string; readonly months: number; readonly reason: string }[];
}

/** Sums what each active rule matches in [from, to); null means no limit. */
export async function testAllocation(
  connection: Connection,
  period: { readonly from: string | null; readonly to: string | null },
): Promise<AllocationTest> {
  const rows = await connection.rows(await readSql('allocation', 'rule_costs'), period);
  const [sums = {}] = await connection.rows(await readSql('allocation', 'period_costs'), period);
  const owners = JSON.parse(String(sums['owners'] ?? '[]')) as OwnerCost[];
  const splits = await connection.rows(await readSql('allocation', 'even_splits'), period);
  return {
    rules: rows.map((row) => ({
      rule: String(row['rule']),
      splitBy: textOrNull(row['split_by']),
      cost: String(row['cost']),
      share: textOrNull(row['share']),
      resources: Number(row['resources']),
      firstHour: textOrNull(row['first_hour']),
      lastHour: textOrNull(row['last_hour']),
    })),
    cost: String(sums['cost']),
    allocatedCost: String(sums['allocated_cost']),
    unallocatedCost: String(sums['unallocated_cost']),
    owners,
    twins: twinsOf(owners),
    splits: splits.map((row) => ({
      rule: String(row['rule']),
      months: Number(row['months']),
      reason: String(row['reason']),
    })),
  };
}

/** Values of each dimension that are probably two spellings of one value. */
function twinsOf(owners: readonly OwnerCost[]): OwnerTwins[] {
  const costs = new Map<string, Map<string, bigint>>();
  for (const { owner, cost } of owners) {
    for (const [dimension, value] of Object.entries(JSON.parse(owner) as Record<string, string | null>)) {
      if (value === null) continue;
      const known = costs.get(dimension) ?? new Map<string, bigint>();
      known.set(value, (known.get(value) ?? 0n) + moneyOf(cost));
      costs.set(dimension, known);
    }
  }
  return [...costs].flatMap(([dimension, values]) => {
    const inOrder = [...values].sort(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0)).map(([value]) => value);
    const costOf = (value: string): string => moneyText(values.get(value) ?? 0n);
    const groups = new Map<string, string[]>();
    const grouped = new Set<string>();
    for (const [value, twin] of nearTwins(inOrder)) {
      if (grouped.has(value) || grouped.has(twin)) continue;
      groups.set(value, [...(groups.get(value) ?? []), twin]);
      grouped.add(twin);
    }
    return [...groups].map(([value, twins]) => ({
      dimension,
      value,
      cost: costOf(value),
      twins: twins.map((twin) => ({ value: twin, cost: costOf(twin) })),
    }));
  });
}

/** Why a rule matched, or did not. */
export interface RuleVerdict {
  readonly rule: string;
  readonly matched: boolean;
  /** What the rule found; if it did not match, also what it expected. */
  readonly reason: readonly string[];
}

/** A resource that mounts a volume, and what the rules decide for it. */
export interface Mounter {
  readonly resourceType: string;
  readonly resourceName: string;
  /** The labels that the rules read, a JSON object; null if it has none. */
  readonly labels: string | null;
  readonly rule: string;
  /** Whether the rule splits its cost over owners. */
  readonly isShared: boolean;
  readonly owner: string;
}

/** The owner of a resource's costs in one time range, for some of its billing dimensions. */
export interface OwnedWindow {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly resourceName: string | null;
  readonly resourceUuid: string | null;
  readonly billingDimensions: readonly (string | null)[];
  /** Null if the range has no start or no end. */
  readonly from: string | null;
  readonly to: string | null;
  readonly labels: string | null;
  readonly rule: string;
  readonly isShared: boolean;
  readonly owner: string;
  /** USD in the books over all these billing dimensions, as decimal text. */
  readonly cost: string;
  /** The rules up to the one that matched; of a volume that follows its mounts, the rules that did not match it. */
  readonly rules: readonly RuleVerdict[];
  /** The resources that mounted the volume when the range ended, if its cost follows them; otherwise null. */
  readonly mounters: readonly Mounter[] | null;
}

/** Most windows that are explained; a name with more is not a single resource. */
const maxWindows = 200;

/**
 * Returns who owns the costs of the resources with this name, uuid, display name or external id, and why, by time.
 * Empty if the books have no such resource.
 */
export async function explainAllocation(
  connection: Connection,
  resource: string,
  definition: Definition | undefined,
): Promise<OwnedWindow[]> {
  const windows = await connection.rows(await readSql('allocation', 'resource_windows'), {
    resource,
    max_windows: maxWindows * 20,
  });
  const merged = new Map<string, OwnedWindow & { billingDimensions: (string | null)[]; costs: string[] }>();
  for (const row of windows) {
    const facts = JSON.parse(String(row['facts'] ?? '{}')) as Record<string, string | null>;
    const hits = JSON.parse(String(row['hits'] ?? '[]')) as [number, number][];
    const [from, to] = [textOrNull(row['from_time']), textOrNull(row['to_time'])];
    const isMounted = row['is_mounted'] === true;
    const tried = verdicts(definition, Number(row['rule_number']), { facts, hits, from, to });
    const window = {
      account: String(row['account']),
      workspace: textOrNull(row['workspace']),
      resourceType: textOrNull(row['resource_type']),
      resourceName: textOrNull(row['resource_name']),
      resourceUuid: textOrNull(row['resource_uuid']),
      ...{ from, to },
      labels: textOrNull(row['labels']),
      rule: String(row['rule']),
      isShared: row['is_split'] === true,
      owner: String(row['owner']),
      rules: isMounted ? tried.filter(({ matched }) => !matched) : tried,
      mounters: isMounted ? (JSON.parse(String(row['mounters'] ?? '[]')) as Mounter[]) : null,
    };
    const key = JSON.stringify(window);
    const known = merged.get(key);
    const dimension = textOrNull(row['billing_dimension']);
    if (known === undefined) {
      merged.set(key, {
        ...window,
        billingDimensions: [dimension],
        cost: String(row['cost']),
        costs: [String(row['cost'])],
      });
    } else {
      known.billingDimensions.push(dimension);
      known.costs.push(String(row['cost']));
    }
  }
  const [sums = {}] = await connection.rows(await readSql('allocation', 'exact_sums'), {
    costs: JSON.stringify([...merged.values()].map(({ costs }) => costs)),
  });
  const totals = JSON.parse(String(sums['totals'] ?? '[]')) as string[];
  return [...merged.values()].map(({ costs: _, ...window }, index) => ({
    ...window,
    cost: totals[index] ?? window.cost,
  }));
}

interface Found {
  readonly facts: Readonly<Record<string, string | null>>;
  readonly hits: readonly (readonly [number, number])[];
  readonly from: string | null;
  readonly to: string | null;
}

function verdicts(definition: Definition | undefined, matchedNumber: number, found: Found): RuleVerdict[] {
  const rules = definition?.rules ?? [];
  return rules.slice(0, matchedNumber).map((rule, index) => {
    const matched = index + 1 === matchedNumber;
    const met = new Set(found.hits.filter(([rule]) => rule === index + 1).map(([, condition]) => condition));
    return { rule: rule.name, matched, reason: reasons(rule, met, matched, found) };
  });
}

function reasons(rule: Rule, met: ReadonlySet<number>, matched: boolean, { facts, from, to }: Found): string[] {
  if (rule.name === defaultRule) return ['no rule matched'];
  const numbers = [...new Set(rule.conditions.map(({ number }) => number))];
  const words = numbers.flatMap((number) => {
    const alternatives = rule.conditions.filter((condition) => condition.number === number);
    const field = alternatives[0]?.field ?? '';
    const isMet = met.has(number);
    if (isMet !== matched) return [];
    const value = facts[field] ?? null;
    const is = value === null ? `has no ${named(field)}` : `${named(field)} is ${value}`;
    return [isMet ? is : `${is}, expected ${expectedOf(alternatives)}`];
  });
  const isTooEarly = rule.from !== null && (from === null || from < rule.from);
  const isTooLate = rule.until !== null && (to === null || to > rule.until);
  if (!matched && (isTooEarly || isTooLate)) {
    words.push(
      `it is valid ${[rule.from && `from ${rule.from}`, rule.until && `until ${rule.until}`].filter(Boolean).join(' ')}`,
    );
  }
  return words.length === 0 ? ['it has no conditions'] : words;
}

function named(field: string): string {
  const [, ofWorkspace, label] = /^(workspace_)?label:(.*)$/s.exec(field) ?? [];
  if (label === undefined) return field;
  return ofWorkspace === undefined ? `label ${label}` : `label ${label} of the workspace`;
}

/** Number of values shown of a long list. */
const maxValuesShown = 5;

function expectedOf(alternatives: readonly Condition[]): string {
  const texts = alternatives.map(({ kind, value }) => {
    if (kind === 'absent') return 'nothing';
    return kind === 'like' ? (value === '%' ? 'any value' : asWritten(value ?? '')) : (value ?? '');
  });
  const more = texts.length > maxValuesShown ? [`${texts.length - maxValuesShown} more`] : [];
  const shown = [...texts.slice(0, maxValuesShown), ...more];
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}` : (shown[0] ?? '');
}

/** A LIKE pattern, as the rules write it. */
function asWritten(like: string): string {
  return like.replace(/\\(.)|%/gs, (found, escaped: string | undefined) => escaped ?? (found === '%' ? '*' : found));
}
