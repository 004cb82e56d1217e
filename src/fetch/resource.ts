import type { Listing, ListingColumn, RawResource } from '../platform/index.ts';
import { matchesStars } from '../text/star-pattern.ts';
import { formatInstant, parseRfc3339 } from '../time/time.ts';
import type { ResourceState, ResourceUse } from '../warehouse/page.ts';

/** A listed resource, decoded. */
export interface DecodedResource {
  readonly state: ResourceState;
  readonly use: ResourceUse;
  /** Fields with an unexpected type, which count as missing: `metadata.labels.team`. */
  readonly strange: readonly string[];
}

const maxInteger = 2 ** 31 - 1;

/** Picks the stored fields out of an item of a listing, and names those of an unexpected type. */
export type Decoder = (item: RawResource, listing: Listing) => DecodedResource;

/**
 * A decoder that leaves out labels whose key matches a pattern, in which `*` is any text: labels that a tool sets by itself
 * are no person's. Pure. A field of an unexpected type counts as missing and is named: one odd label must not cost the others.
 * Its value never appears in messages.
 */
export function decoderOf(ignoreLabels: readonly string[] = []): Decoder {
  return (item, listing) => decode(item, listing, (key) => ignoreLabels.some((pattern) => matchesStars(key, pattern)));
}

function decode(item: RawResource, { columns }: Listing, isIgnored: (key: string) => boolean): DecodedResource {
  const strange = new Set<string>();
  /** The value of a column, read as `read` does; one that it does not take is named. */
  function take<T>(column: ListingColumn, read: (value: unknown, place: string) => T | undefined): T | undefined {
    for (const place of String(columns[column] ?? '').split('|')) {
      const value = place === '' ? undefined : readPath(item, place, strange);
      if (value === undefined) continue;
      const taken = read(value, place);
      if (taken === undefined) strange.add(place);
      else return taken;
    }
    return undefined;
  }
  // The platform writes a missing text as an empty one.
  const text = (column: ListingColumn) => take(column, textOf) || undefined;
  const instant = (column: ListingColumn) => take(column, instantOf) || undefined;
  const integer = (column: ListingColumn, max = maxInteger) =>
    take(column, (value) =>
      Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max ? Number(value) : undefined,
    );
  const names = columns.displayName;
  const state: ResourceState = {
    name: item.metadata.name.toWellFormed(),
    workspace: text('workspace'),
    uuid: text('uuid'),
    createdAt: instant('createdAt'),
    updatedAt: instant('updatedAt'),
    displayName:
      typeof names === 'object'
        ? names
            .map((name) => textOf(readPath(item, name, strange)) ?? '')
            .join(' ')
            .trim() || undefined
        : text('displayName'),
    externalId: text('externalId'),
    labels: take('labels', (value, place) => labelsOf(value, place, strange, isIgnored)) || undefined,
    region: text('region'),
    memoryMb: integer('memoryMb'),
    generation: text('generation'),
    status: text('status'),
    isEnabled: take('isEnabled', (value) => (typeof value === 'boolean' ? value : undefined)),
    plan: text('plan'),
    createdBy: text('createdBy'),
    integrationConnections: take('integrationConnections', connectionsOf) || undefined,
    volumes:
      columns.volumes === undefined
        ? undefined
        : (take('volumes', (value) => volumesOf(value, strange)) ??
          (strange.has(columns.volumes as string) ? undefined : '[]')),
    provider: text('provider'),
    sizeBytes: integer('sizeBytes', Number.MAX_SAFE_INTEGER),
    attachedTo: text('attachedTo'),
  };
  const use: ResourceUse = {
    runtimeState: text('runtimeState'),
    lastUsedAt: instant('lastUsedAt'),
    expiresAt: instant('expiresAt'),
    timeToLive: text('timeToLive'),
    expirationPolicies: take('expirationPolicies', (value, place) => policiesOf(value, place, strange)) || undefined,
    minScale: integer('minScale'),
  };
  return { state, use, strange: [...strange] };
}

/** What is at a path; undefined if nothing is. An object on the way that is none is named. */
function readPath(item: unknown, place: string, strange: Set<string>): unknown {
  const parts = place.split('.');
  let at: unknown = item;
  for (const [depth, part] of parts.entries()) {
    if (!isObject(at)) {
      strange.add(parts.slice(0, depth).join('.'));
      return undefined;
    }
    at = valueAt(at, part);
    if (at === undefined) return undefined;
  }
  return at;
}

function valueAt(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? (object[key] ?? undefined) : undefined;
}

/** A leading byte order mark is not part of the text, and reading the text back from the books drops it. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toWellFormed().replace(/^\uFEFF+/, '') : undefined;
}

/** Empty for an empty text, which means none. */
function instantOf(value: unknown): string | undefined {
  if (value === '') return '';
  const at = typeof value === 'string' ? parseRfc3339(value) : undefined;
  return at === undefined ? undefined : formatInstant(at);
}

/** The text of a field of an object in a list; one of another type is named. */
function fieldText(from: Readonly<Record<string, unknown>>, key: string, place: string, strange: Set<string>) {
  const value = valueAt(from, key);
  const text = value === undefined ? undefined : textOf(value);
  if (value !== undefined && text === undefined) strange.add(place);
  return text || undefined;
}

/** Labels as JSON; empty if there are none. */
function labelsOf(
  value: unknown,
  place: string,
  strange: Set<string>,
  isIgnored: (key: string) => boolean,
): string | undefined {
  if (!isObject(value)) return undefined;
  const read: [string, string][] = [];
  // In the order of the keys as they came: two keys that differ only in a lone surrogate become one, and the same one
  // every night.
  for (const [key, label] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (isIgnored(key)) continue;
    if (typeof label === 'string') read.push([key.toWellFormed(), label.toWellFormed()]);
    // What YAML makes of an unquoted value; its text is what was meant, unless it is too long to be exact.
    else if (typeof label === 'boolean' || (typeof label === 'number' && isExact(label))) {
      read.push([key.toWellFormed(), String(label)]);
    } else if (label !== null) strange.add(`${place}.${key.toWellFormed()}`);
  }
  return read.length === 0 ? '' : JSON.stringify(Object.fromEntries(read));
}

function connectionsOf(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.some((name) => typeof name !== 'string')) return undefined;
  const read = [...new Set(value.map((name: string) => name.toWellFormed()))].sort();
  return read.length === 0 ? '' : JSON.stringify(read);
}

/** An ephemeral volume belongs to its resource alone, even if another one mounts a volume of that name. */
function volumesOf(value: unknown, strange: Set<string>): string | undefined {
  if (!Array.isArray(value) || !value.every(isObject)) return undefined;
  const names = value
    .filter((volume) => fieldText(volume, 'type', 'spec.volumes.type', strange) !== 'ephemeral')
    .flatMap((volume) => fieldText(volume, 'name', 'spec.volumes.name', strange) ?? []);
  return JSON.stringify([...new Set(names)].sort());
}

function policiesOf(value: unknown, place: string, strange: Set<string>): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const read = value.map((policy: unknown) => {
    const fields = isObject(policy) ? policy : {};
    const of = (key: string) => fieldText(fields, key, `${place}.${key}`, strange);
    return { action: of('action'), type: of('type'), value: of('value') };
  });
  return read.length === 0 ? '' : JSON.stringify(read);
}

/** Whether a JSON number lost no digits: an account number of twenty digits would have become another one. */
function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
