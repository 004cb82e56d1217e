/** What a secret is shown as. */
const hidden = '***';

/**
 * Fields whose values are secrets, marked as such or not: lists of objects with one as `value` (2.4, 2.8), or mappings
 * (2.8, 2.9). Each is hidden in either shape: an answer may have another one than the document.
 */
const fieldsOfValues = new Set(['envs', 'envOverride', 'secrets', 'configurations', 'configuration']);
/** Fields that are secrets or may contain one. */
const secretFields = new Set(['callbackSecret', 'secret', 'txtRecords']);
/** Fields of `proxy.routing[]` that may contain a secret which is not a reference (2.9). */
const routingFields = new Set(['headers', 'body']);

/** The documented fields of a trigger's configuration, which are no secrets (2.4). */
const plainConfiguration = new Set([
  ...['authenticationType', 'path', 'retry', 'schedule', 'tasks', 'timeout', 'callbackUrl'],
]);

/**
 * A platform's answer with `***` for everything that is or may be a secret: values of environment variables, of
 * configurations, connections, records of domains and of the secrets, headers and bodies of proxy routes, callback secrets,
 * and credentials in addresses.
 * Names stay. Pure.
 */
export function withoutSecrets(value: unknown): unknown {
  return clean(value, undefined);
}

function clean(value: unknown, field: string | undefined): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) return value.map((item) => clean(item, field === 'routing' ? field : undefined));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
    if (secretFields.has(name) && field !== 'labels') return [name, hideAll(inner)];
    if (field === 'routing' && routingFields.has(name)) return [name, hideAll(inner)];
    if (fieldsOfValues.has(name))
      return [name, hideValues(inner, name === 'configuration' ? plainConfiguration : new Set())];
    return [name, clean(inner, field === 'routing' ? field : name)];
  });
  return Object.fromEntries(entries);
}

/** The values of a list or a mapping, hidden but for `plain` names; an object stays, except for its `value`. */
function hideValues(values: unknown, plain: ReadonlySet<string>): unknown {
  if (Array.isArray(values)) return values.map(hideValue);
  if (!isObject(values)) return hideAll(values);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (plain.has(name)) return [name, clean(value, name)];
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
