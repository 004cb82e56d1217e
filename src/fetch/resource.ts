import type { RawResource } from '../platform/index.ts';
import { formatInstant, parseRfc3339 } from '../time.ts';

/** The stored state of a resource. Fields that are not listed here are never stored, secrets least of all. */
export interface ResourceState {
  readonly name: string;
  /** Undefined if the listing does not name the owner. */
  readonly workspace: string | undefined;
  readonly uuid: string | undefined;
  /** Instants as `2026-10-01T00:00:00Z`. */
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly displayName: string | undefined;
  readonly externalId: string | undefined;
  /** A JSON object with text values and sorted keys; undefined if there are none. */
  readonly labels: string | undefined;
  readonly region: string | undefined;
  readonly memoryMb: number | undefined;
  readonly generation: string | undefined;
  readonly status: string | undefined;
  readonly isEnabled: boolean | undefined;
  readonly plan: string | undefined;
  readonly createdBy: string | undefined;
  /** A sorted JSON array of names; undefined if there are none. */
  readonly integrationConnections: string | undefined;
}

/** A listed resource, decoded. */
export interface DecodedResource {
  readonly state: ResourceState;
  /** Fields with an unexpected type, which count as missing: `metadata.labels.team`. */
  readonly strange: readonly string[];
}

const maxMemoryMb = 2 ** 31 - 1;

/**
 * Picks the stored fields out of a listed resource (2.2, 2.5 to 2.10). Pure. A field of an unexpected type counts as
 * missing and is named: one odd label must not cost the others. Its value never appears in messages.
 */
export function decodeResource(item: RawResource): DecodedResource {
  const strange: string[] = [];
  function at(object: unknown, key: string): unknown {
    return isObject(object) && Object.hasOwn(object, key) ? (object[key] ?? undefined) : undefined;
  }
  function take<T>(value: unknown, place: string, read: (value: unknown) => T | undefined): T | undefined {
    if (value === undefined) return undefined;
    const taken = read(value);
    if (taken === undefined) strange.push(place);
    return taken;
  }
  function text(object: unknown, key: string, place: string): string | undefined {
    // A leading byte order mark is not part of the text, and reading the text back from the books drops it.
    const read = (value: unknown) =>
      typeof value === 'string' ? value.toWellFormed().replace(/^\uFEFF+/, '') : undefined;
    return take(at(object, key), place, read) || undefined; // the platform writes a missing text as an empty one
  }
  function instant(object: unknown, key: string, place: string): string | undefined {
    const read = (value: unknown) => {
      const at = typeof value === 'string' ? parseRfc3339(value) : undefined;
      return at === undefined ? undefined : formatInstant(at);
    };
    return take(at(object, key) || undefined, place, read);
  }
  function labels(value: unknown): string | undefined {
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
  function names(value: unknown): string | undefined {
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.some((name) => typeof name !== 'string')) {
      strange.push('spec.integrationConnections');
      return undefined;
    }
    const read = [...new Set(value.map((name: string) => name.toWellFormed()))].sort();
    return read.length === 0 ? undefined : JSON.stringify(read);
  }

  const { metadata } = item;
  const spec = take(at(item, 'spec'), 'spec', (value) => (isObject(value) ? value : undefined));
  const runtime = take(at(spec, 'runtime'), 'spec.runtime', (value) => (isObject(value) ? value : undefined));
  const state: ResourceState = {
    name: metadata.name.toWellFormed(),
    workspace: text(metadata, 'workspace', 'metadata.workspace'),
    uuid: text(metadata, 'uuid', 'metadata.uuid'),
    createdAt: instant(metadata, 'createdAt', 'metadata.createdAt'),
    updatedAt: instant(metadata, 'updatedAt', 'metadata.updatedAt'),
    displayName: text(metadata, 'displayName', 'metadata.displayName'),
    externalId: text(metadata, 'externalId', 'metadata.externalId'),
    labels: labels(at(metadata, 'labels')),
    region: text(spec, 'region', 'spec.region'),
    memoryMb: take(at(runtime, 'memory'), 'spec.runtime.memory', (value) =>
      Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= maxMemoryMb ? Number(value) : undefined,
    ),
    generation: text(runtime, 'generation', 'spec.runtime.generation'),
    status: text(item, 'status', 'status'),
    isEnabled: take(at(spec, 'enabled'), 'spec.enabled', (value) => (typeof value === 'boolean' ? value : undefined)),
    plan: text(metadata, 'plan', 'metadata.plan'),
    createdBy: text(metadata, 'createdBy', 'metadata.createdBy'),
    integrationConnections: names(at(spec, 'integrationConnections')),
  };
  return { state, strange };
}

/** Whether a JSON number lost no digits: an account number of twenty digits would have become another one. */
function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
