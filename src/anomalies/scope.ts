/** Whose costs are looked at as one: a workspace's resource type along a billing dimension. Null where the platform tells none. */
export interface Scope {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
}

/** One text for each scope. */
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
