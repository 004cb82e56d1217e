import { UsageError } from '../base/errors.ts';
import { oneOf, quoted } from '../text/choices.ts';
import { type Given, itemsIn, oneOrMore, type Problems, parseText, single, valueIn, whole, z } from '../yaml/index.ts';

/** What a sink has that calls the platform. */
interface OnPlatform {
  /** The account whose address and token are used; undefined for the only one. */
  readonly account: string | undefined;
  readonly workspace: string;
  /** How long one call may take, and how long other sinks wait for its answer. */
  readonly timeLimitSeconds: number;
}

/** Sends each alert and each summary to an agent of the platform. */
export interface AgentSettings extends OnPlatform {
  readonly type: 'agent';
  readonly agent: string;
  /** Names of the sinks that show the answer. */
  readonly answersTo: readonly string[];
}

/** Runs a batch job of the platform, with each alert or summary as a task. */
export interface JobSettings extends OnPlatform {
  readonly type: 'job';
  readonly job: string;
}

/** Lets a model write the first paragraph of each summary. */
export interface ModelSettings extends OnPlatform {
  readonly type: 'model';
  readonly model: string;
  /** Names of the sinks that show the paragraph. */
  readonly answersTo: readonly string[];
}

export type ActingSettings = AgentSettings | JobSettings | ModelSettings;
export type ActingType = ActingSettings['type'];

/** Whether a sink calls the platform, which costs money and may change something. */
export function isActing(settings: { readonly type: string } | undefined): settings is ActingSettings {
  return settings !== undefined && ['agent', 'job', 'model'].includes(settings.type);
}

/** The sinks that show what this sink answers. */
export function answersToOf(settings: { readonly type: string } | undefined): readonly string[] {
  return isActing(settings) && 'answersTo' in settings ? settings.answersTo : [];
}

/** A name on the platform: it becomes a step of a path. */
const platformName = single(
  (value) => {
    const text = parseText(value, 100);
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return text;
    throw new UsageError(`found ${quoted(text)}, expected a name on the platform: letters, digits and . _ -`);
  },
  { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', maxLength: 100 },
);

const common = { account: z.optional(single((value) => parseText(value, 200))), workspace: platformName };
/** Names of sinks. What they name is checked when all sinks are known. */
const answersTo = oneOrMore(
  single((value) => parseText(value, 100)),
  'sinks such as [finops]',
);

/** The keys of the sinks that call the platform. */
export const actingKeys = {
  agent: {
    ...{ ...common, agent: platformName, answersTo: z._default(answersTo, []) },
    timeLimitSeconds: z._default(whole(1, 900), 60),
  },
  job: { ...common, job: platformName, timeLimitSeconds: z._default(whole(1, 900), 60) },
  model: { ...common, model: platformName, answersTo, timeLimitSeconds: z._default(whole(1, 900), 30) },
};

/** What the rest of the configuration has for sinks that call the platform. */
export interface PlatformKnown {
  /** The ids of the accounts; undefined for one without an id. */
  readonly accounts: readonly (string | undefined)[];
  readonly hasInferenceUrl: boolean;
}

/** A sink as it is written. */
export interface GivenSink {
  readonly name: string;
  readonly type: string | undefined;
  readonly entry: Given;
}

/** Reports what a sink that calls the platform names and the configuration does not have. */
export function reportActing(sinks: readonly GivenSink[], known: PlatformKnown, problems: Problems): void {
  const readers = sinks
    .filter(({ type }) => type !== undefined && type !== 'pagerduty' && !(type in actingKeys))
    .map(({ name }) => name);
  for (const { type, entry } of sinks) {
    if (type === undefined || !(type in actingKeys)) continue;
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
          ? 'there is none: add one of type slack, teams, webhook, email or log'
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
