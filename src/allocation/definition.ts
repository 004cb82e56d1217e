/**
 * Allocation rules as the books keep them: one JSON text, which the views take apart (sql/views/allocation_rules.sql).
 * Keys are those of the SQL, and their order is fixed: the same rules are the same text.
 */
export interface Definition {
  /** What every owner is told along, in order. */
  readonly dimensions: readonly string[];
  /** Misspelt values of labels, and what they stand for. */
  readonly aliases: readonly { readonly label: string; readonly alias: string; readonly value: string }[];
  /** In their order; the last is `default`, which matches always. */
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly name: string;
  /** `2026-10-01T00:00:00Z`, half-open; null where it is valid always. */
  readonly from: string | null;
  readonly until: string | null;
  /** A rule matches where of each number one condition is met. */
  readonly conditions: readonly Condition[];
  readonly owner: readonly OwnerEntry[];
  /** Null where what it catches has one owner. */
  readonly split: Split | null;
}

export interface Condition {
  readonly number: number;
  /** `workspace`, … or `label:<key>`. */
  readonly field: string;
  readonly kind: 'is' | 'like' | 'absent';
  /** A text, or a pattern of SQL's LIKE with `\` as its escape; null where the field must be absent. */
  readonly value: string | null;
  /** The owner of a lookup table's line, as JSON; null elsewhere. */
  readonly owner: string | null;
}

export interface OwnerEntry {
  readonly dimension: string;
  /** The owner; where a label is read, what stands in its place where that is missing. */
  readonly value: string | null;
  readonly label: string | null;
}

export interface Split {
  readonly by: 'cost' | 'evenly' | 'weights' | 'usage';
  /** The dimensions by which owners are told apart. */
  readonly over: readonly string[];
  /** Whose usage counts, where it is split by usage. */
  readonly billing_dimension: string | null;
  /** Whom it is split over by fixed weights: owners as JSON, weights as decimal text. */
  readonly owners: readonly { readonly owner: string; readonly weight: string }[] | null;
}

/** What rules can look at, besides labels: the names of the books. */
export const fields = [
  'account',
  'workspace',
  'resource_type',
  'resource_name',
  'resource_uuid',
  'billing_dimension',
  'external_id',
  'display_name',
  'region',
] as const;

/** The name of what no rule catches. */
export const defaultRule = 'default';

/** An owner as JSON: every dimension in order, each a text or null. */
export function ownerText(dimensions: readonly string[], values: ReadonlyMap<string, string | null>): string {
  return JSON.stringify(Object.fromEntries(dimensions.map((dimension) => [dimension, values.get(dimension) ?? null])));
}
