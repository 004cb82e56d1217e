import type { AnomalyFact } from '../anomalies/index.ts';
import { mainDriverOf } from '../budgets/forecasts/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { type AnswerCache, cachedRows } from '../warehouse/store/index.ts';

/** Facts of anomalies, each with the owner of the resource that drives it on its last day, if the allocation knows one. */
export async function withOwners(
  connection: Connection,
  facts: readonly AnomalyFact[],
  cache?: AnswerCache | undefined,
): Promise<AnomalyFact[]> {
  const asked = facts.flatMap(({ account, lastDay, drivers, isOver, state }, place) => {
    if (state !== 'raised' || isOver) return [];
    const uuid = mainDriverOf(drivers)?.resourceUuid;
    return uuid == null ? [] : [{ place, account, resource_uuid: uuid, day: lastDay }];
  });
  const owners = await ownersOf(connection, asked, cache);
  return facts.map((fact, place) => {
    const owner = owners.get(place);
    return owner === undefined ? fact : { ...fact, owner };
  });
}

/** The owner of each of these resources, workspaces or whole accounts on its day, by its place; none if nobody is known, or if several are. */
export async function ownersOf(
  connection: Connection,
  asked: readonly {
    readonly place: number;
    readonly account: string;
    readonly resource_uuid?: string;
    readonly workspace?: string;
    readonly day: string;
  }[],
  cache?: AnswerCache | undefined,
): Promise<ReadonlyMap<number, string | undefined>> {
  if (asked.length === 0) return new Map();
  const given = { asked: JSON.stringify(asked) };
  const rows = await cachedRows(connection, cache, ['alerts', 'owners_of_resources'], given, 'names');
  return new Map(rows.map((row) => [Number(row['place']), ownerWords(String(row['owner']))]));
}

/** `team Research, product Search` of a JSON object; undefined if it names nobody. */
function ownerWords(json: string): string | undefined {
  const parts = Object.entries(JSON.parse(json) as Record<string, string | null>).flatMap(([dimension, name]) =>
    name === null ? [] : [`${dimension} ${name}`],
  );
  return parts.length === 0 ? undefined : parts.join(', ');
}
