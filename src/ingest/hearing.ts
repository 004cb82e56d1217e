/**
 * Whether the platform takes the workspace that a listing is asked for, which is not shown. It does if the listings of two
 * workspaces have items of their own only, and does not if one has an item of another. Where items name no workspace, it
 * does not if two workspaces have the same items.
 */
export interface Hearing {
  /** Undefined while nothing shows it. */
  isHeard(): boolean | undefined;
  /** Learns from a listing: the workspaces that its items name. */
  learn(asked: string | undefined, named: ReadonlySet<string>): void;
  /** Remembers the items without a workspace of a listing, by their digest. */
  remember(asked: string, resourceType: string, digest: string): void;
  /** Another workspace whose listing of this type has the same items; undefined if there is none. */
  twinOf(asked: string, resourceType: string): string | undefined;
}

/** What is known of one token; with one workspace to ask for, every item without a workspace belongs to that. */
export function openHearing(hasSeveral: boolean): Hearing {
  const withItems = new Set<string>();
  const digests = new Map<string, Map<string, string>>();
  let isIgnored = false;
  return {
    isHeard() {
      if (isIgnored) return false;
      return !hasSeveral || withItems.size > 1 ? true : undefined;
    },
    learn(asked, named) {
      if (asked === undefined || named.size === 0) return;
      if ([...named].every((name) => name === asked)) withItems.add(asked);
      else isIgnored = true;
    },
    remember(asked, resourceType, digest) {
      const ofType = digests.get(resourceType) ?? new Map<string, string>();
      digests.set(resourceType, ofType.set(asked, digest));
    },
    twinOf(asked, resourceType) {
      const ofType = digests.get(resourceType);
      return [...(ofType ?? [])].find(([other, digest]) => other !== asked && digest === ofType?.get(asked))?.[0];
    },
  };
}
