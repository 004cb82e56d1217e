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
  if (asked.length === 0) return [...facts];
  const given = { asked: JSON.stringify(asked) };
  const rows = await cachedRows(connection, cache, ['alerts', 'owners_of_resources'], given, 'names');
  const owners = new Map(rows.map((row) => [Number(row['place']), ownerWords(String(row['owner']))]));
  return facts.map((fact, place) => {
    const owner = owners.get(place);
    return owner === undefined ? fact : { ...fact, owner };
  });
}

/** `team Research, product Search` of a JSON object; undefined if it names nobody. */
function ownerWords(json: string): string | undefined {
  const parts = Object.entries(JSON.parse(json) as Record<string, string | null>).flatMap(([dimension, name]) =>
    name === null ? [] : [`${dimension} ${name}`],
  );
  return parts.length === 0 ? undefined : parts.join(', ');
}
