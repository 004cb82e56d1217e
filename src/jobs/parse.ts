import { basename } from 'node:path';
import { UsageError } from '../base/errors.ts';
import {
  choiceParser,
  type Environment,
  entriesOf,
  expand,
  type Given,
  gatherProblems,
  itemsOf,
  keysOf,
  type MappingRule,
  type Parse,
  type Problems,
  parseBoolean,
  parseTargetUrl,
  parseText,
  parseYaml,
  readValue,
  urlSecrets,
} from '../config/index.ts';
import { nearest, oneOf, quoted } from '../text/choices.ts';
import { type Instant, parseDuration, parseInstant, parseMonth, zoneOf } from '../time/time.ts';
import { type Job, type Ping, type Step, type StepName, type StepOption, stepNames, stepRules } from './definition.ts';
import { parseTimetable } from './timetable.ts';

export interface JobInput {
  readonly text: string;
  /** The file's path, used in messages; its base name is the name of the job. */
  readonly file: string;
  readonly isBuiltIn: boolean;
  readonly env: Environment;
  readonly now: Instant;
  /** Called with each secret address before it is used. */
  keepSecret(secret: string): void;
  /** Whether variables in addresses must be set; only commands that call them need that. */
  readonly requirePing: boolean;
}

/** The keys of a job's file. */
export const jobKeys = ['schedule', 'timeZone', 'steps', 'timeout', 'catchUp', 'enabled', 'ping'] as const;
export const pingKeys = ['start', 'success', 'fail', 'allowPrivateNetwork'] as const;
export const catchUps = ['once', 'skip'] as const;

const topRule: MappingRule = {
  keys: jobKeys,
  expected: 'keys such as schedule: "15 2 * * *" and steps: [ingest, check, alert]',
  elsewhere: [{ keys: pingKeys.filter((key) => key !== 'allowPrivateNetwork'), place: 'ping' }],
};
const pingRule: MappingRule = {
  keys: pingKeys,
  expected: `addresses such as fail: "$` + '{PING_URL}/fail"; write one or remove it',
  elsewhere: [{ keys: jobKeys, place: 'the top level' }],
};

const stepExpected = `one of ${oneOf(stepNames)}, or a step with options such as report: { name: focus }`;

/** A job file as far as it could be read. */
export interface JobReading {
  readonly name: string;
  readonly file: string;
  /** Undefined if the file has a mistake. */
  readonly job: Job | undefined;
  /** The steps without a mistake, so that options rejected by their commands are reported too. */
  readonly steps: readonly Step[];
  /** Every mistake, one per line, by position; undefined if there is none. */
  readonly problem: string | undefined;
}

/** Parses a job. Pure except for `keepSecret`. Throws one UsageError that lists every mistake, one per line, by position. */
export function parseJob(input: JobInput): Job {
  const { job, problem } = readJob(input);
  if (job === undefined) throw new UsageError(problem ?? `${input.file}: not a valid job, for an unknown reason`);
  return job;
}

/** Parses a job as far as possible. Pure except for `keepSecret`. */
export function readJob(input: JobInput): JobReading {
  const { file } = input;
  const steps: Step[] = [];
  const name = basename(file, '.yaml');
  try {
    return { name, file, job: readWhole(input, steps), steps, problem: undefined };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, file, job: undefined, steps, problem: error.message };
  }
}

/** Parses a job, and collects its valid steps even if it throws UsageError. */
function readWhole(input: JobInput, steps: Step[]): Job {
  const { text, file, isBuiltIn } = input;
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(text, file, problems);
  for (const address of addressesIn(root)) keepAddress(address, input, problems);
  const keys = isSound ? keysOf(root.value === null ? { ...root, value: empty } : root, topRule, problems) : undefined;
  if (keys === undefined) {
    problems.throwIfAny();
    throw new Error(`${file}: not a valid job, for an unknown reason`);
  }
  for (const key of ['schedule', 'steps'] as const) {
    if (!keys.has(key)) {
      const such = key === 'schedule' ? 'schedule: "15 2 * * *"' : 'steps: [ingest, check, alert]';
      problems.report({ where: root.where, position: root.position }, `found no ${key}, expected ${such}; add it`);
    }
  }
  const due = readValue(
    keys.get('schedule'),
    (value) => {
      const schedule = parseText(value, 200);
      return { schedule, timetable: parseTimetable(schedule) };
    },
    problems,
  );
  const zone = readValue(keys.get('timeZone'), (value) => zoneOf(parseText(value, 100)), problems);
  const given = keys.get('steps');
  if (given !== undefined) steps.push(...readSteps(given, input, problems));
  const timeoutMs = readValue(keys.get('timeout'), parseTimeout, problems);
  const catchUp = readValue(keys.get('catchUp'), choiceParser(catchUps), problems) ?? 'once';
  const isEnabled = readValue(keys.get('enabled'), parseBoolean, problems) ?? true;
  const pingGiven = keys.get('ping');
  const ping = pingGiven === undefined ? undefined : readPing(pingGiven, input, problems);
  problems.throwIfAny();
  if (due === undefined) throw new Error(`${file}: no valid schedule, for an unknown reason`);
  return {
    name: basename(file, '.yaml'),
    file,
    isBuiltIn,
    ...due,
    zone: zone ?? zoneOf('UTC'),
    steps,
    timeoutMs,
    catchUp,
    isEnabled,
    ping,
  };
}

const empty = { kind: 'mapping', entries: [] } as const;

/** Every text in the place of an address, also in wrong places. */
function* addressesIn({ value }: Given, isUnderPing = false): Generator<string> {
  if (value === null || typeof value !== 'object') {
    if (isUnderPing && typeof value === 'string') yield value;
  } else if (value.kind === 'list') for (const item of value.items) yield* addressesIn(item, isUnderPing);
  else
    for (const { key, value: given } of value.entries) yield* addressesIn(given, isUnderPing || key.value === 'ping');
}

/** Shorter texts are not addresses, and would hide words of other messages. */
const minSecretLength = 8;

function keepAddress(address: string, { env, keepSecret }: JobInput, problems: Problems): void {
  for (const text of [address, expand(address, env).text]) {
    // A reference is not a secret; its value is.
    if (/^\$\{\w+\}$/.test(text) || text.length < minSecretLength) continue;
    const parts = URL.canParse(text) ? urlSecrets(text) : [text];
    for (const part of parts) {
      keepSecret(part);
      problems.keepSecret(part);
    }
  }
}

function readSteps(given: Given, input: JobInput, problems: Problems): readonly Step[] {
  return itemsOf(given, `steps, each ${stepExpected}`, problems).flatMap((item) => {
    let isSound = true;
    const step = readStep(item, input, {
      ...problems,
      report(place, text) {
        isSound = false;
        problems.report(place, text);
      },
    });
    return step === undefined || !isSound ? [] : { ...step, where: item.where };
  });
}

function readStep(item: Given, input: JobInput, problems: Problems): Step | undefined {
  if (item.value === undefined) return undefined;
  if (typeof item.value !== 'object' || item.value === null) {
    const name = readValue(item, parseStepName, problems);
    if (name === undefined) return undefined;
    const { required = [] } = stepRules[name];
    for (const key of required) {
      problems.report(item, `found ${name} without ${key}, expected ${name}: { ${key}: … }`);
    }
    return { name, options: {} };
  }
  const keys = keysOf(item, { keys: stepNames, expected: stepExpected }, problems);
  const [entry, ...others] = keys ?? [];
  for (const [name, other] of others)
    problems.report(
      other,
      `found ${name} in the same step as ${entry?.[0]}, expected separate steps; start each with -`,
    );
  if (entry === undefined) {
    if (keys !== undefined && item.value.kind === 'mapping' && item.value.entries.length === 0) {
      problems.report(item, `found nothing, expected ${stepExpected}`);
    }
    return undefined;
  }
  const name = stepNames.find((candidate) => candidate === entry[0]);
  return name === undefined ? undefined : { name, options: readOptions(name, entry[1], input, problems) };
}

function readOptions(name: StepName, given: Given, input: JobInput, problems: Problems): Step['options'] {
  const { options, required = [] } = stepRules[name];
  if (given.value === null || options.length === 0) {
    const words =
      options.length === 0 ? `only the name, because ${name} has no options` : 'its options, or only the name';
    problems.report(
      given,
      `found ${given.value === null ? 'nothing' : 'a value'} after ${name}:, expected ${words}; write - ${name}`,
    );
    return {};
  }
  const elsewhere = stepNames.flatMap((other) =>
    other === name ? [] : [{ keys: stepRules[other].options.map(({ key }) => key), place: `the step ${other}` }],
  );
  const rule: MappingRule = {
    keys: options.map(({ key }) => key),
    expected: `options such as { ${options[0]?.key}: … }`,
    elsewhere,
  };
  const keys = keysOf(given, rule, problems);
  if (keys === undefined) return {};
  for (const key of required) {
    if (!keys.has(key)) problems.report(given, `found no ${key}, expected one in each ${name} step; add it`);
  }
  const read: Record<string, string | true | readonly string[]> = {};
  for (const option of options) {
    const value = keys.get(option.key);
    const text = value === undefined ? undefined : readOption(name, option, value, input, problems);
    if (text !== undefined) read[option.key] = text;
  }
  return read;
}

function readOption(
  name: StepName,
  option: StepOption,
  given: Given,
  input: JobInput,
  problems: Problems,
): string | true | readonly string[] | undefined {
  switch (option.kind) {
    case 'flag':
      return readValue(given, parseBoolean, problems) || undefined;
    case 'flagOrText':
      if (typeof given.value === 'string') return readValue(given, (value) => parseText(value, 100), problems);
      return readValue(given, parseBoolean, problems) || undefined;
    case 'choice':
      return readValue(given, choiceParser(option.choices), problems);
    case 'choices':
      return readNames(given, choiceParser(option.choices), oneOf(option.choices), problems);
    case 'names':
      return readNames(given, (value) => parseText(value, 100), 'names', problems);
    case 'list':
      return readTexts(given, problems);
    case 'duration':
      return readValue(given, parseTimeText, problems);
    case 'date':
      return readValue(given, dateParser(option.key, input.now), problems);
    case 'values':
      return [
        ...(entriesOf(given, 'parameters and their values, such as { workspace: north }', problems) ?? []),
      ].flatMap(([key, entry]) => {
        const value = readValue(entry, singleParser(entry), problems);
        return value === undefined ? [] : [`${key}=${value}`];
      });
    case 'text':
      return readValue(given, name === 'close' ? parseClosedMonth : (value) => parseText(value, 1000), problems);
  }
}

/** One text, or a list joined with commas, as the flag expects. */
function readNames(given: Given, parse: Parse<string>, expected: string, problems: Problems): string | undefined {
  const isList = typeof given.value === 'object' && given.value?.kind === 'list';
  const names = (isList ? itemsOf(given, expected, problems) : [given]).flatMap((item) => {
    const name = readValue(item, parse, problems);
    if (name?.includes(',')) problems.report(item, `found ${quoted(name)}, expected a list: [a, b]`);
    return name ?? [];
  });
  return names.length === 0 ? undefined : names.join(',');
}

/** One text, or a list of them, for a repeatable flag. */
function readTexts(given: Given, problems: Problems): readonly string[] {
  const isList = typeof given.value === 'object' && given.value?.kind === 'list';
  const items = isList ? itemsOf(given, 'a list of texts', problems) : [given];
  return items.flatMap((item) => readValue(item, (value) => parseText(value, 1000), problems) ?? []);
}

const parseStepName: Parse<StepName> = (value) => {
  const text = parseText(value, 100);
  const name = stepNames.find((candidate) => candidate === text);
  if (name !== undefined) return name;
  const guess = nearest(text, stepNames);
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  throw new UsageError(`found ${quoted(text)}, expected ${stepExpected}${hint}`);
};

const parseTimeout: Parse<number> = (value) => {
  const text = parseText(value, 100);
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new UsageError(`found ${quoted(text)}, expected a duration such as 90s, 50m or 6h`);
  return ms;
};

/** A duration as written. */
const parseTimeText: Parse<string> = (value) => {
  parseTimeout(value);
  return parseText(value, 100);
};

const parseClosedMonth: Parse<string> = (value) => {
  const text = parseText(value, 100);
  try {
    parseMonth(text, 'month', 0); // the run resolves "last"
  } catch {
    throw new UsageError(`found ${quoted(text)}, expected last, or a month such as 2026-09`);
  }
  return text;
};

function dateParser(key: string, now: Instant): Parse<string> {
  return (value) => {
    const text = parseText(value, 100);
    try {
      parseInstant(text, key, now);
    } catch {
      throw new UsageError(
        `found ${quoted(text)}, expected a date: 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`,
      );
    }
    return text;
  };
}

/** A text, number or boolean as written. */
function singleParser({ source }: Given): Parse<string> {
  return (value) =>
    typeof value === 'number' || typeof value === 'boolean' ? (source ?? String(value)) : parseText(value, 1000);
}

function readPing(given: Given, input: JobInput, problems: Problems): Ping | undefined {
  const keys = keysOf(given, pingRule, problems);
  if (keys === undefined) return undefined;
  if (!['start', 'success', 'fail'].some((key) => keys.has(key))) {
    problems.report(given, `found no address, expected ${pingRule.expected}`);
  }
  const allowPrivateNetwork = readValue(keys.get('allowPrivateNetwork'), parseBoolean, problems) ?? false;
  function address(key: 'start' | 'success' | 'fail'): string | undefined {
    const at = keys?.get(key);
    if (at === undefined || typeof at.value !== 'string') return readValue(at, parseTargetUrl, problems);
    const { text, unset, malformed } = expand(at.value, input.env);
    const faults = input.requirePing ? [...malformed, ...unset] : malformed;
    for (const fault of faults) problems.report(at, fault);
    if (malformed.length > 0 || unset.length > 0) return undefined;
    const url = readValue({ ...at, value: text }, parseTargetUrl, problems);
    if (url?.startsWith('http:') && !allowPrivateNetwork) {
      problems.report(
        at,
        'found http, which is not encrypted, expected https; allowPrivateNetwork: true permits http to private addresses',
      );
    }
    return url;
  }
  return { start: address('start'), success: address('success'), fail: address('fail'), allowPrivateNetwork };
}
