/** What a viewer may see. Everything that a page shows is computed from the rows of this scope alone. */
export type Scope =
  | { readonly kind: 'all' }
  /** Only costs of these workspaces. */
  | { readonly kind: 'workspaces'; readonly workspaces: readonly string[] };

/** Who asks, as an access token or a proxy names them. */
export interface Viewer {
  readonly name: string;
  readonly scope: Scope;
}

/** One text for equal scopes: answers are stored by it. */
export function scopeKey(scope: Scope): string {
  return scope.kind === 'all' ? 'all' : JSON.stringify([...scope.workspaces].sort());
}
