/**
 * Allocation rules as the books store them: one JSON text, which sql/views/allocation_rules.sql parses. The keys are
 * those of the SQL. Their order is fixed, so the same rules are always the same text.
 */
export interface Definition {
  /** The dimensions of an owner, such as team and product, in order. */
  readonly dimensions: readonly string[];
  /** Other spellings of label values, and the value that each means. */
  readonly aliases: readonly { readonly label: string; readonly alias: string; readonly value: string }[];
  /** In order; the last is `default`, which always matches. */
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly name: string;
  /**
   * `2026-10-01T00:00:00Z`, half-open; null if the rule is always valid.
   */
  readonly from: string | null;
  readonly until: string | null;
  /** A rule matches if at least one condition of each number is met. */
  readonly conditions: readonly Condition[];
  readonly owner: readonly OwnerEntry[];
  /** Null if the costs that it matches have one owner. */
  readonly split: Split | null;
}

export interface Condition {
  readonly number: number;
  /** `workspace`, … or `label:<key>`. */
  readonly field: string;
  readonly kind: 'is' | 'like' | 'absent';
  /** A text, or a LIKE pattern with `\` as its escape; null if the field must be absent. */
  readonly value: string | null;
  /** The owner on this line of a lookup table, as JSON; null in other conditions. */
  readonly owner: string | null;
}

export interface OwnerEntry {
  readonly dimension: string;
  /** The owner. If it comes from a label: the owner of costs without that label. */
  readonly value: string | null;
  readonly label: string | null;
}

export interface Split {
  readonly by: 'cost' | 'evenly' | 'weights' | 'usage';
  /** The dimensions that distinguish owners. */
  readonly over: readonly string[];
  /** With `by: usage`, the billing dimension whose usage counts. */
  readonly billing_dimension: string | null;
  /** With `by: weights`, the owners as JSON, with weights as decimal text. */
  readonly owners: readonly { readonly owner: string; readonly weight: string }[] | null;
}

/** The fields, besides labels, that rules can match, named as in the books. */
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
  'created_by',
  'provider',
] as const;

/** The name of the rule for costs that no other rule matches. */
export const defaultRule = 'default';

/** An owner as JSON: every dimension in order, each with a text or null. */
export function ownerText(dimensions: readonly string[], values: ReadonlyMap<string, string | null>): string {
  return JSON.stringify(Object.fromEntries(dimensions.map((dimension) => [dimension, values.get(dimension) ?? null])));
}
