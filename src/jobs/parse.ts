import { basename } from 'node:path';
import { type Mistake, mistakesIn, UsageError } from '../base/errors.ts';
import { type Environment, expand } from '../config/index.ts';
import type { Option } from '../options/kinds.ts';
import { stepNames } from '../options/table.ts';
import { parseTargetUrl, plainAddress, urlSecrets } from '../sinks/index.ts';
import { nearest, oneOf, quoted } from '../text/choices.ts';
import { type Instant, parseDuration, parseInstant, parseMonth, zoneOf } from '../time/time.ts';
import {
  choice,
  choiceParser,
  either,
  flag,
  type Given,
  gatherProblems,
  givenAt,
  itemsIn,
  list,
  mapping,
  named,
  oneOrMore,
  type Parse,
  type Problems,
  parseBoolean,
  parseText,
  parseYaml,
  readAs,
  rule,
  type Shape,
  single,
  z,
} from '../yaml/index.ts';
import { type Job, type Step, type StepName, stepOptions, stepRules } from './definition.ts';
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

const stepExpected = `one of ${oneOf(stepNames)}, or a step with options such as report: { name: focus }`;

/** A job file as far as it could be read. */
export interface JobReading {
  readonly name: string;
  readonly file: string;
  /** Undefined if the file has a mistake. */
  readonly job: Job | undefined;
  /** The steps without a mistake, so that options rejected by their commands are reported too. */
  readonly steps: readonly Step[];
  /** Every mistake, by position. */
  readonly problems: readonly Mistake[];
}

/** Parses a job. Pure except for `keepSecret`. Throws one UsageError that lists every mistake, one per line, by position. */
export function parseJob(input: JobInput): Job {
  const { job, problems } = readJob(input);
  if (job === undefined) throw new UsageError(problems);
  return job;
}

/** Parses a job as far as possible. Pure except for `keepSecret`. */
export function readJob(input: JobInput): JobReading {
  const { file } = input;
  const steps: Step[] = [];
  const name = basename(file, '.yaml');
  try {
    return { name, file, job: readWhole(input, steps), steps, problems: [] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, file, job: undefined, steps, problems: mistakesIn(error) };
  }
}

/** Parses a job, and collects its valid steps even if it throws UsageError. */
function readWhole(input: JobInput, steps: Step[]): Job {
  const { text, file, isBuiltIn } = input;
  const problems = gatherProblems();
  const { root, isSound } = parseYaml(text, file, problems);
  for (const address of addressesIn(root)) keepAddress(address, input, problems);
  if (!isSound) problems.throwIfAny();
  const step = stepShape(input);
  const read = readAs(root.value === null ? { ...root, value: empty } : root, jobShape(step, input), problems);
  for (const item of itemsIn(givenAt(root, ['steps']))) {
    const own = gatherProblems();
    const sound = readAs(item, step, own);
    if (sound !== undefined && own.error() === undefined)
      steps.push({ ...sound, where: item.where, line: item.position?.line });
  }
  problems.throwIfAny();
  if (read === undefined) throw new Error(`${file}: not a valid job, for an unknown reason`);
  const { schedule, timeZone = zoneOf('UTC'), timeout, catchUp = 'once', enabled = true, ping } = read;
  const place = { name: basename(file, '.yaml'), file, isBuiltIn };
  const timeoutLine = timeout === undefined ? undefined : givenAt(root, ['timeout']).position?.line;
  return {
    ...{ ...place, ...schedule, zone: timeZone, steps, timeoutMs: timeout, timeoutLine },
    ...{ catchUp, isEnabled: enabled, ping },
  };
}

/** What a job's file may have. */
export function jobShape(step: ReturnType<typeof stepShape>, input: Pick<JobInput, 'env' | 'requirePing'>) {
  const shape = {
    schedule: single(
      (value) => {
        const schedule = parseText(value, 200);
        return { schedule, timetable: parseTimetable(schedule) };
      },
      { type: 'string', pattern: '^\\s*[^\\s@]\\S*(\\s+\\S+){4}\\s*$' },
    ),
    timeZone: z.optional(single((value) => zoneOf(parseText(value, 100)))),
    steps: list(step, `steps, each ${stepExpected}`),
    timeout: z.optional(single(parseTimeout, { type: 'string', pattern: '^[0-9]{1,5}[smhd]$' })),
    catchUp: z.optional(choice(['once', 'skip'])),
    enabled: z.optional(flag),
    ping: z.optional(pingShape(input)),
  };
  return mapping(shape, {
    expected: 'keys such as schedule: "15 2 * * *" and steps: [ingest, check, alert]',
    elsewhere: [{ keys: ['start', 'success', 'fail'], place: 'ping' }],
    needed: { schedule: 'schedule: "15 2 * * *"', steps: 'steps: [ingest, check, alert]' },
  });
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

/** A step: its name, or its name with options. */
export function stepShape({ now }: Pick<JobInput, 'now'>) {
  const withOptions = stepNames.filter((name) => stepOptions(name).length > 0);
  const shape = Object.fromEntries(withOptions.map((name) => [name, z.optional(optionsShape(name, now))]));
  const withoutOptions = stepNames.filter((name) => !withOptions.includes(name));
  const elsewhere = withoutOptions.map((name) => ({ keys: [name], place: `a line of its own: - ${name}` }));
  const full = mapping(shape, { expected: stepExpected, elsewhere }).check(
    rule((step, report, isSound) => {
      const [first, ...others] = Object.keys(step);
      if (first === undefined && isSound) report(`found nothing, expected ${stepExpected}`);
      const advice = `in the same step as ${first}, expected separate steps; start each with -`;
      for (const name of others) report(`found ${name} ${advice}`, name);
    }),
  );
  full.register(z.globalRegistry, { minProperties: 1, maxProperties: 1 });
  const alone = single(parseNamedStep, { enum: stepNames.filter((name) => stepRules[name].argument === undefined) });
  const step = z.transform((given: z.output<typeof full>): Step => {
    const [[name, options = {}] = []] = Object.entries(given);
    return { name: name as StepName, options };
  });
  return either(alone, z.pipe(full, step));
}

function optionsShape(name: StepName, now: Instant) {
  const options = stepOptions(name);
  const required = stepRules[name].argument?.key;
  const shape = Object.fromEntries(
    options.map(([key, option]) => {
      const read = optionShape(key, option, now);
      const description = typeof option.step === 'string' ? option.step : option.summary;
      read.register(z.globalRegistry, { ...z.globalRegistry.get(read), description });
      return [key, key === required ? read : z.optional(read)];
    }),
  );
  const elsewhere = stepNames.map((other) => {
    return { keys: stepOptions(other).map(([key]) => key), place: `the step ${other}` };
  });
  const expected = `options such as { ${options[0]?.[0]}: … }, or only the name: - ${name}`;
  const needed = required === undefined ? {} : { [required]: `one in each ${name} step` };
  return z.pipe(
    mapping(shape, { expected, elsewhere, needed }),
    z.transform((given) => {
      return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Step['options'];
    }),
  );
}

type OptionValue = string | true | readonly string[] | undefined;

function optionShape(key: string, { kind, choices = [] }: Option, now: Instant): Shape<OptionValue> {
  switch (kind) {
    case 'flag':
      return single((value) => parseBoolean(value) || undefined, { type: 'boolean' });
    case 'flagOrText':
      return single((value) => (typeof value === 'string' ? parseText(value, 100) : parseBoolean(value)) || undefined, {
        type: ['boolean', 'string'],
      });
    case 'choice':
      return choice(choices);
    case 'choices':
      return joined(choiceParser(choices), oneOf(choices), { enum: choices });
    case 'names':
      return joined((value) => parseText(value, 100), 'names');
    case 'list':
      return oneOrMore(
        single((value) => parseText(value, 1000)),
        'a list of texts',
      );
    case 'duration':
      return single(parseTimeText);
    case 'hour':
      return single(dateParser(key, now));
    case 'pairs':
      return z.pipe(
        named(
          single(parseWritten, { type: ['string', 'number', 'boolean'] }),
          'parameters and their values, such as { workspace: north }',
        ),
        z.transform((values) => Object.entries(values).map((pair) => pair.join('='))),
      );
    case 'text':
      return single((value) => parseText(value, 1000));
    case 'month':
      return single(parseClosedMonth, { type: 'string', pattern: '^(last|[0-9]{4}-[0-9]{2})$' });
  }
}

/** One text, or a list joined with commas, as the flag expects. */
function joined(parse: Parse<string>, expected: string, json?: Readonly<Record<string, unknown>>): Shape<string> {
  const name = single((value) => {
    const text = parse(value);
    if (text.includes(',')) throw new UsageError(`found ${quoted(text)}, expected a list: [a, b]`);
    return text;
  }, json);
  return z.pipe(
    oneOrMore(name, expected),
    z.transform((names) => names.join(',')),
  );
}

const parseNamedStep: Parse<Step> = (value) => {
  const text = parseText(value, 100);
  const name = stepNames.find((candidate) => candidate === text);
  if (name === undefined) {
    const guess = nearest(text, stepNames);
    const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
    throw new UsageError(`found ${quoted(text)}, expected ${stepExpected}${hint}`);
  }
  const key = stepRules[name].argument?.key;
  if (key !== undefined) throw new UsageError(`found ${name} without ${key}, expected ${name}: { ${key}: … }`);
  return { name, options: {} };
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
const parseWritten: Parse<string> = (value, source) =>
  typeof value === 'number' || typeof value === 'boolean' ? (source ?? String(value)) : parseText(value, 1000);

const pingExpected = `addresses such as fail: "$` + '{PING_URL}/fail"; write one or remove it';

function pingShape({ env, requirePing }: Pick<JobInput, 'env' | 'requirePing'>) {
  const address = single((value) => {
    if (typeof value !== 'string') return parseTargetUrl(value);
    const { text, unset, malformed } = expand(value, env);
    const faults = requirePing ? [...malformed, ...unset] : malformed;
    if (faults.length > 0) throw new UsageError(faults.join('. '));
    return unset.length > 0 ? undefined : parseTargetUrl(text);
  });
  const addresses = ['start', 'success', 'fail'] as const;
  const shape = mapping(
    {
      start: z.optional(address),
      success: z.optional(address),
      fail: z.optional(address),
      allowPrivateNetwork: z._default(flag, false),
    },
    {
      expected: pingExpected,
      elsewhere: [{ keys: ['schedule', 'timeZone', 'steps', 'timeout', 'catchUp', 'enabled'], place: 'the top level' }],
    },
  ).check(
    rule((ping, report) => {
      if (!addresses.some((key) => key in ping)) report(`found no address, expected ${pingExpected}`);
      for (const key of addresses) {
        if (ping[key]?.startsWith('http:') && !ping.allowPrivateNetwork) report(plainAddress, key);
      }
    }),
  );
  return shape.register(z.globalRegistry, { anyOf: addresses.map((key) => ({ required: [key] })) });
}
