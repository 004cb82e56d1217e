import type { Instant } from '../time/time.ts';
import { type AnswerCache, type Connection, cachedRows } from '../warehouse/store/index.ts';

/** What gave the costs of the last 30 days their owners: a rule that reads a listing, mounts, a rule by name, or no rule. */
export type OwnerSource = 'labels' | 'mounts' | 'names' | 'default';

/** What listings explain of an account's costs of the last 30 days; USD as decimal text. */
export interface ListedCosts {
  /** Resources with costs, of types that have a listing, and how many of them a listing ever showed. */
  readonly expected: number;
  readonly listed: number;
  /** When the oldest of its listings was last read; null if none was. */
  readonly listedAt: Instant | null;
  /** Whether there are allocation rules: without any, nothing has an owner. */
  readonly hasRules: boolean;
  readonly bySource: Readonly<Record<OwnerSource, string>>;
  /** Costs of resources that no listing ever showed, dearest workspace first; null for costs without a workspace. */
  readonly neverListed: readonly { readonly workspace: string | null; readonly cost: string }[];
}

/** Reads them by account. Every run that evaluates alerts keeps the answer, so that `status` has it at once. */
export async function listedCosts(
  connection: Connection,
  cache?: AnswerCache,
): Promise<ReadonlyMap<string, ListedCosts>> {
  const rows = await cachedRows(connection, cache, ['status', 'owner_sources']);
  return new Map(
    rows.map((row) => {
      const costs = new Map(
        (JSON.parse(String(row['sources'])) as { source: OwnerSource; cost: string }[]).map((each) => [
          each.source,
          each.cost,
        ]),
      );
      const of = (source: OwnerSource) => costs.get(source) ?? '0';
      return [
        String(row['account']),
        {
          expected: Number(row['expected'] ?? 0),
          listed: Number(row['listed'] ?? 0),
          listedAt: row['listed_at'] === null ? null : Number(row['listed_at']),
          hasRules: Number(row['rules']) > 1,
          bySource: { labels: of('labels'), mounts: of('mounts'), names: of('names'), default: of('default') },
          neverListed: JSON.parse(String(row['unlisted'] ?? '[]')) as ListedCosts['neverListed'],
        },
      ];
    }),
  );
}
