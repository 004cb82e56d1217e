import { type SinkSettings, type SinkTypeName, sinkTypeNames, sinkTypes } from '../sinks/index.ts';
import { oneOf, quoted } from '../text/choices.ts';
import {
  choice,
  choiceParser,
  entriesOf,
  type Given,
  isMissingKey,
  itemsIn,
  itemsOf,
  keysOfShape,
  mapping,
  type Problems,
  parseText,
  readAs,
  readValue,
  type Shape,
  valueIn,
  z,
} from '../yaml/index.ts';

/** A sink by its name. */
export interface Sink {
  readonly name: string;
  readonly type: SinkTypeName | undefined;
  /** Undefined if one of its variables is not set; only commands that notify nobody accept that. */
  readonly settings: SinkSettings | undefined;
}

/** What a sink is for; undefined if its type is not known. */
function roleOf(type: SinkTypeName | undefined) {
  return type === undefined ? undefined : sinkTypes[type].role;
}

function namesOf(sinks: readonly Sink[], roles: readonly ReturnType<typeof roleOf>[]): readonly string[] {
  return sinks.filter(({ type }) => roles.includes(roleOf(type))).map(({ name }) => name);
}

/** The sinks that alerts can name: all but those that only write for others. */
export function alertSinksOf(sinks: readonly Sink[]): readonly string[] {
  return namesOf(sinks, ['people', 'incidents', 'platform', undefined]);
}

/** The sinks to which each alert is an incident. */
export function incidentSinksOf(sinks: readonly Sink[]): readonly string[] {
  return namesOf(sinks, ['incidents']);
}

/** The sinks that a summary can go to: those that people or agents read. */
export function summarySinksOf(sinks: readonly Sink[]): readonly string[] {
  return namesOf(sinks, ['people', 'platform', undefined]);
}

const expected = 'sinks by name, such as finops: { type: slack, url: "$' + '{SLACK_WEBHOOK_URL}" }';

/**
 * Reads the sinks of a configuration, in which references are replaced, and reports every mistake. A sink with a variable
 * that is not set has no settings.
 */
export function readSinks(given: Given, known: PlatformKnown, problems: Problems): readonly Sink[] {
  const written: GivenSink[] = [];
  const sinks = [...(entriesOf(given, expected, problems) ?? [])].map(([name, entry]): Sink => {
    if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u.test(name)) {
      problems.report(entry, `found the name ${quoted(name)}, expected letters, digits and . _ - without spaces`);
    }
    // The valid keys depend on the type.
    const type = sinkTypeNames.find((one) => one === valueIn(entry, 'type')?.value);
    const shape: Shape = type === undefined ? anySinkShape() : sinkTypes[type].shape();
    const read = readAs(entry, shape, problems);
    written.push({ name, type, entry });
    return {
      name,
      type,
      settings: type === undefined || isMissingKey(entry) ? undefined : (read as SinkSettings | undefined),
    };
  });
  reportActing(written, known, problems);
  return sinks;
}

/** A sink of an unknown type: it may have the keys of every type. */
function anySinkShape() {
  const keys = Object.values(sinkTypes).flatMap((type) => keysOfShape(type.shape()));
  return mapping(
    { ...Object.fromEntries(keys.map((key) => [key, z.optional(z.unknown())])), type: choice(sinkTypeNames) },
    { expected: 'a sink such as { type: log }', needed: { type: `type: ${oneOf(sinkTypeNames)}` } },
  );
}

/** What the rest of the configuration has for sinks that call the platform. */
export interface PlatformKnown {
  /** The ids of the accounts; undefined for one without an id. */
  readonly accounts: readonly (string | undefined)[];
  readonly hasInferenceUrl: boolean;
}

/** A sink as it is written. */
interface GivenSink {
  readonly name: string;
  readonly type: SinkTypeName | undefined;
  readonly entry: Given;
}

/** Reports what a sink that calls the platform names and the configuration does not have. */
function reportActing(sinks: readonly GivenSink[], known: PlatformKnown, problems: Problems): void {
  const readers = sinks.filter(({ type }) => roleOf(type) === 'people').map(({ name }) => name);
  for (const { type, entry } of sinks) {
    const role = roleOf(type);
    if (role !== 'platform' && role !== 'writer') continue;
    if (type !== 'job' && !known.hasInferenceUrl) {
      problems.report(entry, `found no inferenceUrl, which a sink of type ${type} needs; write it at the top level`);
    }
    reportAccount(entry, valueIn(entry, 'account'), known.accounts, problems);
    const names = valueIn(entry, 'answersTo');
    const items = names === undefined ? [] : typeof names.value === 'object' ? itemsIn(names) : [names];
    for (const item of items) {
      if (typeof item.value !== 'string' || readers.includes(item.value)) continue;
      const expected =
        readers.length === 0
          ? `there is none: add one of type ${oneOf(sinkTypeNames.filter((name) => roleOf(name) === 'people'))}`
          : `expected ${oneOf(readers)}`;
      problems.report(item, `found ${quoted(item.value)}, which is not a sink that people read; ${expected}`);
    }
  }
}

function reportAccount(
  entry: Given,
  given: Given | undefined,
  accounts: PlatformKnown['accounts'],
  problems: Problems,
): void {
  const ids = accounts.flatMap((id) => id ?? []);
  if (given === undefined) {
    if (accounts.length > 1)
      problems.report(entry, `found no account, expected ${oneOf(ids)}: there are several; write it`);
    return;
  }
  const isKnown = ids.includes(String(given.value)) || (ids.length === 0 && accounts.length <= 1);
  if (!isKnown) problems.report(given, `found ${quoted(String(given.value))}, expected ${oneOf(ids)}`);
}

/** Names of sinks: a list, or comma-separated text, as in an environment variable. */
export function readSinkNames(
  given: Given | undefined,
  sinks: readonly Sink[],
  problems: Problems,
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const known = alertSinksOf(sinks);
  const items: readonly Given[] =
    typeof given.value === 'string'
      ? given.value.split(',').map((name) => ({ ...given, value: name.trim() }))
      : itemsOf(given, 'a list of sinks such as [finops]', problems);
  return items.flatMap((item) => {
    const name = readValue(item, (value) => parseText(value, 100), problems);
    if (name === undefined) return [];
    if (known.includes(name)) return [name];
    const which = known.length === 0 ? 'there are none: add it under sinks' : `expected ${oneOf(known)}`;
    problems.report(item, `found ${quoted(name)}, which is not a sink; ${which}`);
    return [];
  });
}

/** Kinds of alerts about the data. Budget thresholds set their own severity; that of an anomaly depends on its size. */
export const severityKinds = [
  'stale',
  'account',
  'clock',
  'unproven',
  'silent',
  'check',
  'run',
  'disk',
  'books',
  'listings',
  'unlisted',
  'closed_month',
  'invoice',
  'dimension',
  'interface',
] as const;
export const alertSeverities = ['info', 'warning', 'critical'] as const;
export type AlertSeverities = Readonly<
  Partial<Record<(typeof severityKinds)[number], (typeof alertSeverities)[number]>>
>;

/** Severities by kind: a mapping, or `unproven=warning,run=info`, as in an environment variable. */
export function readSeverities(given: Given | undefined, problems: Problems): AlertSeverities {
  if (given === undefined) return {};
  const pairs: readonly (readonly [string, Given])[] =
    typeof given.value === 'string'
      ? given.value.split(',').map((pair) => {
          const [kind = '', severity = ''] = pair.split('=').map((part) => part.trim());
          return [kind, { ...given, value: severity }];
        })
      : [...(entriesOf(given, 'severities by kind, such as unproven: warning', problems) ?? [])];
  const read = pairs.flatMap(([name, severity]) => {
    const kind = severityKinds.find((known) => known === name);
    if (kind === undefined) {
      problems.report(severity, `found the kind ${quoted(name)}, expected ${oneOf(severityKinds)}`);
    }
    const value = readValue(severity, choiceParser(alertSeverities), problems);
    return kind === undefined || value === undefined ? [] : [[kind, value] as const];
  });
  return Object.fromEntries(read);
}
