import type { RawResource } from '../platform/index.ts';
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

/** The resource types that may mount volumes (2.4), as costs name them. */
const mountingTypes: readonly string[] = ['agent', 'job', 'sandbox'];

/**
 * Picks the stored fields out of a listed resource of a type (2.2, 2.4 to 2.10). Pure. A field of an unexpected type
 * counts as missing and is named: one odd label must not cost the others. Its value never appears in messages.
 */
export function decodeResource(item: RawResource, resourceType: string): DecodedResource {
  const strange: string[] = [];
  const { object, text, instant, integer, truth } = readerOf(strange);
  const { metadata } = item;
  const spec = object(item, 'spec', 'spec');
  const runtime = object(spec, 'runtime', 'spec.runtime');
  const lifecycle = object(spec, 'lifecycle', 'spec.lifecycle');
  const state: ResourceState = {
    name: metadata.name.toWellFormed(),
    workspace: text(metadata, 'workspace', 'metadata.workspace'),
    uuid: text(metadata, 'uuid', 'metadata.uuid'),
    createdAt: instant(metadata, 'createdAt', 'metadata.createdAt'),
    updatedAt: instant(metadata, 'updatedAt', 'metadata.updatedAt'),
    displayName: text(metadata, 'displayName', 'metadata.displayName'),
    externalId: text(metadata, 'externalId', 'metadata.externalId'),
    labels: labelsOf(valueAt(metadata, 'labels'), strange),
    region: text(spec, 'region', 'spec.region'),
    memoryMb: integer(runtime, 'memory', 'spec.runtime.memory'),
    generation: text(runtime, 'generation', 'spec.runtime.generation'),
    status: text(item, 'status', 'status'),
    isEnabled: truth(spec, 'enabled', 'spec.enabled'),
    plan: text(metadata, 'plan', 'metadata.plan'),
    createdBy: text(metadata, 'createdBy', 'metadata.createdBy'),
    integrationConnections: connectionsOf(valueAt(spec, 'integrationConnections'), strange),
    volumes: mountingTypes.includes(resourceType) ? volumesOf(valueAt(spec, 'volumes') ?? [], strange) : undefined,
    provider: resourceType === 'model' ? text(runtime, 'type', 'spec.runtime.type') : undefined,
  };
  const use: ResourceUse = {
    runtimeState: text(item, 'state', 'state'),
    lastUsedAt: instant(item, 'lastUsedAt', 'lastUsedAt'),
    expiresAt: instant(runtime, 'expires', 'spec.runtime.expires'),
    timeToLive: text(runtime, 'ttl', 'spec.runtime.ttl'),
    expirationPolicies: policiesOf(valueAt(lifecycle, 'expirationPolicies'), strange),
    minScale: integer(runtime, 'minScale', 'spec.runtime.minScale'),
  };
  return { state, use, strange };
}

function valueAt(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? (object[key] ?? undefined) : undefined;
}

/** Readers of one field each; a value of another type is undefined, and its place is added to `strange`. */
function readerOf(strange: string[]) {
  function take<T>(value: unknown, place: string, read: (value: unknown) => T | undefined): T | undefined {
    if (value === undefined) return undefined;
    const taken = read(value);
    if (taken === undefined) strange.push(place);
    return taken;
  }
  return {
    object: (from: unknown, key: string, place: string) =>
      take(valueAt(from, key), place, (value) => (isObject(value) ? value : undefined)),
    text(from: unknown, key: string, place: string): string | undefined {
      // A leading byte order mark is not part of the text, and reading the text back from the books drops it.
      const read = (value: unknown) =>
        typeof value === 'string' ? value.toWellFormed().replace(/^\uFEFF+/, '') : undefined;
      return take(valueAt(from, key), place, read) || undefined; // the platform writes a missing text as an empty one
    },
    instant(from: unknown, key: string, place: string): string | undefined {
      const read = (value: unknown) => {
        const at = typeof value === 'string' ? parseRfc3339(value) : undefined;
        return at === undefined ? undefined : formatInstant(at);
      };
      return take(valueAt(from, key) || undefined, place, read);
    },
    integer: (from: unknown, key: string, place: string) =>
      take(valueAt(from, key), place, (value) =>
        Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= maxInteger ? Number(value) : undefined,
      ),
    truth: (from: unknown, key: string, place: string) =>
      take(valueAt(from, key), place, (value) => (typeof value === 'boolean' ? value : undefined)),
  };
}

function labelsOf(value: unknown, strange: string[]): string | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) {
    strange.push('metadata.labels');
    return undefined;
  }
  const read: [string, string][] = [];
  // In the order of the keys as they came: two keys that differ only in a lone surrogate become one, and the same one
  // every night.
  for (const [key, label] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (typeof label === 'string') read.push([key.toWellFormed(), label.toWellFormed()]);
    // What YAML makes of an unquoted value; its text is what was meant, unless it is too long to be exact.
    else if (typeof label === 'boolean' || (typeof label === 'number' && isExact(label))) {
      read.push([key.toWellFormed(), String(label)]);
    } else if (label !== null) strange.push(`metadata.labels.${key.toWellFormed()}`);
  }
  return read.length === 0 ? undefined : JSON.stringify(Object.fromEntries(read));
}

function connectionsOf(value: unknown, strange: string[]): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.some((name) => typeof name !== 'string')) {
    strange.push('spec.integrationConnections');
    return undefined;
  }
  const read = [...new Set(value.map((name: string) => name.toWellFormed()))].sort();
  return read.length === 0 ? undefined : JSON.stringify(read);
}

/** An ephemeral volume belongs to its resource alone, even if another one mounts a volume of that name. */
function volumesOf(value: unknown, strange: string[]): string | undefined {
  if (!Array.isArray(value) || !value.every(isObject)) {
    strange.push('spec.volumes');
    return undefined;
  }
  const { text } = readerOf(strange);
  const names = value
    .filter((volume) => text(volume, 'type', 'spec.volumes.type') !== 'ephemeral')
    .flatMap((volume) => text(volume, 'name', 'spec.volumes.name') ?? []);
  return JSON.stringify([...new Set(names)].sort());
}

function policiesOf(value: unknown, strange: string[]): string | undefined {
  if (value === undefined) return undefined;
  const place = 'spec.lifecycle.expirationPolicies';
  if (!Array.isArray(value)) {
    strange.push(place);
    return undefined;
  }
  const { text } = readerOf(strange);
  const read = value.map((policy: unknown) => ({
    action: text(policy, 'action', `${place}.action`),
    type: text(policy, 'type', `${place}.type`),
    value: text(policy, 'value', `${place}.value`),
  }));
  return read.length === 0 ? undefined : JSON.stringify(read);
}

/** Whether a JSON number lost no digits: an account number of twenty digits would have become another one. */
function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
