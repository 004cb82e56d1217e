import type { RawResource } from '../platform/index.ts';
import { formatInstant, parseRfc3339 } from '../time/time.ts';
import type { ResourceEvent, ResourceRuntime } from '../warehouse/page.ts';

/** The deployments of a listed resource, decoded. */
export interface DecodedDeployments {
  /** Newest first, at most `maxEvents`. */
  readonly events: readonly ResourceEvent[];
  readonly runtime: ResourceRuntime;
  /** Fields with an unexpected type, which count as missing: `events.time`. */
  readonly strange: readonly string[];
}

/** The events that are stored of one resource in one listing. Older ones were stored on earlier nights. */
export const maxEvents = 200;
const maxTextLength = 200;
const maxMessageLength = 1_000;
const maxScale = 2 ** 31 - 1;

/**
 * Picks the deployment history and the runtime out of a listed resource. Pure. An event without a time is ignored and
 * named as strange: nothing shows when it happened. Credentials in an image's address are removed.
 */
export function decodeDeployments(item: RawResource): DecodedDeployments {
  const strange = new Set<string>();
  function text(object: unknown, key: string, place: string, maxLength = maxTextLength): string | undefined {
    const value = at(object, key);
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value === 'string') return cut(value, maxLength);
    strange.add(place);
    return undefined;
  }
  function scale(object: unknown, key: string): number | undefined {
    const value = at(object, key);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxScale) return value;
    strange.add(`spec.runtime.${key}`);
    return undefined;
  }
  function event(value: unknown): ResourceEvent[] {
    const time = timeOf(at(value, 'time'));
    if (time === undefined) {
      strange.add('events.time');
      return [];
    }
    return [
      {
        time,
        type: text(value, 'type', 'events.type'),
        status: text(value, 'status', 'events.status'),
        message: text(value, 'message', 'events.message', maxMessageLength),
        revision: text(value, 'revision', 'events.revision'),
        canaryRevision: text(value, 'canaryRevision', 'events.canaryRevision'),
      },
    ];
  }

  const listed = at(item, 'events') ?? [];
  if (!Array.isArray(listed)) strange.add('events');
  const events = (Array.isArray(listed) ? listed : [])
    .flatMap(event)
    .sort((a, b) => Date.parse(b.time) - Date.parse(a.time))
    .slice(0, maxEvents);
  const spec = at(item, 'spec');
  const runtime = at(spec, 'runtime');
  return {
    events,
    runtime: {
      image: text(runtime, 'image', 'spec.runtime.image', maxMessageLength)?.replace(
        /^([a-z]+:\/\/)?[^/@]*:[^/@]*@/i,
        '$1',
      ),
      revision: text(at(spec, 'revision'), 'active', 'spec.revision.active'),
      minScale: scale(runtime, 'minScale'),
      maxScale: scale(runtime, 'maxScale'),
    },
    strange: [...strange],
  };
}

function timeOf(value: unknown): string | undefined {
  const instant = typeof value === 'string' ? parseRfc3339(value) : undefined;
  return instant === undefined ? undefined : formatInstant(instant);
}

/** The first characters of a text, never half of one. */
function cut(text: string, maxLength: number): string | undefined {
  return (
    text
      .slice(0, maxLength)
      .toWellFormed()
      .replace(/^\uFEFF+/, '') || undefined
  );
}

/** An own field of an object; undefined if there is none. */
function at(object: unknown, key: string): unknown {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return undefined;
  return Object.hasOwn(object, key) ? (object as Readonly<Record<string, unknown>>)[key] : undefined;
}
