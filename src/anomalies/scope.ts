/**
 * The scope of one evaluation: the costs of a resource type in a workspace for one billing dimension. Null where the
 * platform reports none.
 */
export interface Scope {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
}

/** A scope as a unique text. */
export function scopeKey({ account, workspace, resourceType, billingDimension }: Scope): string {
  return JSON.stringify([account, workspace, resourceType, billingDimension]);
}

/** The scope of a row with its four columns. */
export function scopeOf(row: Readonly<Record<string, unknown>>): Scope {
  const text = (name: string) => (row[name] === null || row[name] === undefined ? null : String(row[name]));
  return {
    account: String(row['account']),
    workspace: text('workspace'),
    resourceType: text('resource_type'),
    billingDimension: text('billing_dimension'),
  };
}
