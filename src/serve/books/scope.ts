/** What a viewer may see. Everything that a page shows is computed from the rows of this scope alone. */
export type Scope =
  | { readonly kind: 'all' }
  /** Only costs of these workspaces. */
  | { readonly kind: 'workspaces'; readonly workspaces: readonly string[] }
  /** Only costs that the allocation rules give to this owner directly. */
  | { readonly kind: 'owner'; readonly owner: string };

/** Who asks, as an access token or a proxy names them. */
export interface Viewer {
  /** Undefined on a server that only this machine reaches. */
  readonly name: string | undefined;
  readonly scope: Scope;
}

/** One text for equal scopes: answers are stored by it. */
export function scopeKey(scope: Scope): string {
  if (scope.kind === 'workspaces') return `workspaces ${JSON.stringify([...scope.workspaces].sort())}`;
  return scope.kind === 'owner' ? `owner ${scope.owner}` : 'all';
}
