/** What a secret is shown as. */
const hidden = '***';

/** Lists of objects whose `value` may be a secret, marked as one or not (2.4, 2.8). */
const listsOfValues = new Set(['envs']);
/** Mappings whose values are secrets, or objects with one as `value` (2.8, 2.9). */
const mappingsOfValues = new Set(['secrets', 'configurations', 'configuration']);
/** Fields that are secrets or may contain one. */
const secretFields = new Set(['callbackSecret']);
/** Fields of `proxy.routing[]` that may contain a secret which is not a reference (2.9). */
const routingFields = new Set(['headers', 'body']);

/** The documented fields of a trigger's configuration, which are no secrets (2.4). */
const plainConfiguration = new Set([
  ...['authenticationType', 'path', 'retry', 'schedule', 'tasks', 'timeout', 'callbackUrl'],
]);

/**
 * A platform's answer with `***` for everything that is or may be a secret: values of environment variables, of
 * configurations and of the secrets, headers and bodies of proxy routes, callback secrets, and credentials in addresses.
 * Names stay. Pure.
 */
export function withoutSecrets(value: unknown): unknown {
  return clean(value, undefined);
}

function clean(value: unknown, field: string | undefined): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) {
    if (field !== undefined && listsOfValues.has(field)) return value.map(hideValue);
    return value.map((item) => clean(item, field === 'routing' ? 'route' : undefined));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
    if (secretFields.has(name)) return [name, hideAll(inner)];
    if (field === 'route' && routingFields.has(name)) return [name, hideAll(inner)];
    if (mappingsOfValues.has(name) && isObject(inner)) return [name, hideMapping(inner)];
    return [name, clean(inner, name)];
  });
  return Object.fromEntries(entries);
}

/** The values of a mapping, hidden; an object stays, except for its `value`. */
function hideMapping(mapping: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(mapping).map(([name, value]) => {
      if (plainConfiguration.has(name)) return [name, clean(value, name)];
      return [name, isObject(value) ? hideValue(value) : hideAll(value)];
    }),
  );
}

/** `{name, value}` with its value hidden. */
function hideValue(item: unknown): unknown {
  if (!isObject(item)) return hideAll(item);
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, name === 'value' ? hideAll(value) : clean(value, name)]),
  );
}

/** Every text and number in a value, hidden; an empty text says that there is none. */
function hideAll(value: unknown): unknown {
  if (value === null || value === '' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(hideAll);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hideAll(inner)]));
  return hidden;
}

/** `https://user:pass@host/` without the credentials. No scheme is longer: a long text of many words would take hours. */
function withoutCredentials(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@]+@/gi, `$1${hidden}@`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
