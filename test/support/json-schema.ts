type Schema = Readonly<Record<string, unknown>>;

/** Words of JSON Schema that `violations` understands; it throws at any other. */
const known = [
  ...[
    '$schema',
    'title',
    'description',
    'default',
    'type',
    'enum',
    'const',
    'properties',
    'required',
    'additionalProperties',
  ],
  ...[
    'minProperties',
    'maxProperties',
    'items',
    'minItems',
    'anyOf',
    'oneOf',
    'not',
    'pattern',
    'minLength',
    'maxLength',
  ],
  ...['minimum', 'maximum', 'dependentRequired'],
];

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/**
 * Where and how a value violates a schema; empty if it is valid. Supports the part of draft 2020-12 that our schemas
 * use.
 */
export function violations(schema: Schema, value: unknown, at = ''): string[] {
  const found: string[] = [];
  const s = schema as Record<string, never>;
  for (const word of Object.keys(schema)) if (!known.includes(word)) throw new Error(`${word} is not understood`);
  const type = typeOf(value);
  const types = schema['type'] === undefined ? undefined : [schema['type']].flat();
  if (types && !types.includes(type) && !(types.includes('integer') && Number.isInteger(value)))
    found.push(`${at}: ${type}`);
  if (schema['enum'] && !(schema['enum'] as unknown[]).includes(value)) found.push(`${at}: none of the choices`);
  if (Object.hasOwn(schema, 'const') && schema['const'] !== value) found.push(`${at}: not ${schema['const']}`);
  if (typeof value === 'string') {
    if (s['pattern'] && !new RegExp(s['pattern'], 'u').test(value)) found.push(`${at}: does not fit ${s['pattern']}`);
    if (value.length < (s['minLength'] ?? 0) || value.length > (s['maxLength'] ?? Number.POSITIVE_INFINITY))
      found.push(`${at}: length`);
  }
  if (typeof value === 'number') {
    if (value < (s['minimum'] ?? Number.NEGATIVE_INFINITY) || value > (s['maximum'] ?? Number.POSITIVE_INFINITY))
      found.push(`${at}: out of range`);
  }
  if (Array.isArray(value)) {
    if (value.length < (s['minItems'] ?? 0)) found.push(`${at}: too few items`);
    if (s['items'])
      for (const [index, item] of value.entries()) found.push(...violations(s['items'], item, `${at}/${index}`));
  } else if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    const properties: Record<string, Schema> = s['properties'] ?? {};
    for (const key of (s['required'] ?? []) as string[]) if (!keys.includes(key)) found.push(`${at}: no ${key}`);
    for (const [key, others] of Object.entries((s['dependentRequired'] ?? {}) as Record<string, string[]>)) {
      if (keys.includes(key))
        for (const other of others) if (!keys.includes(other)) found.push(`${at}: ${key} without ${other}`);
    }
    if (keys.length < (s['minProperties'] ?? 0) || keys.length > (s['maxProperties'] ?? Number.POSITIVE_INFINITY))
      found.push(`${at}: number of keys`);
    for (const [key, item] of Object.entries(value)) {
      if (Object.hasOwn(properties, key)) found.push(...violations(properties[key] as Schema, item, `${at}/${key}`));
      else if (schema['additionalProperties'] === false) found.push(`${at}: unknown key ${key}`);
      else if (s['additionalProperties']) found.push(...violations(s['additionalProperties'], item, `${at}/${key}`));
    }
  }
  const passes = (one: Schema) => violations(one, value, at).length === 0;
  if (s['anyOf'] && !(s['anyOf'] as Schema[]).some(passes)) found.push(`${at}: none of several`);
  if (s['oneOf'] && (s['oneOf'] as Schema[]).filter(passes).length !== 1) found.push(`${at}: not one of several`);
  if (s['not'] && passes(s['not'])) found.push(`${at}: what must not be`);
  return found;
}
