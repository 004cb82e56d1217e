import { UsageError } from '../base/errors.ts';
import { oneOf, quoted } from '../text/choices.ts';
import { type Given, integerParser, type Parse, type Problems, parseText, type ReadText, readValue } from './yaml.ts';

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

const usualTimeLimits = { agent: 60, job: 60, model: 30 } as const;

interface ActingSinkType {
  readonly keys: readonly string[];
  readonly required: readonly string[];
  read(keys: ReadonlyMap<string, Given>, read: ReadText): Omit<ActingSettings, 'type'> | undefined;
}

/** The keys of the sinks that call the platform, and how to parse them. */
export const actingSinkTypes: Readonly<Record<ActingType, ActingSinkType>> = {
  agent: {
    keys: ['account', 'workspace', 'agent', 'answersTo', 'timeLimitSeconds'],
    required: ['workspace', 'agent'],
    read(keys, read) {
      const common = readCommon(keys, read, 'agent');
      const agent = read(keys.get('agent'), parsePlatformName);
      if (common === undefined || agent === undefined) return undefined;
      return { ...common, agent, answersTo: readNames(keys.get('answersTo'), read) };
    },
  },
  job: {
    keys: ['account', 'workspace', 'job', 'timeLimitSeconds'],
    required: ['workspace', 'job'],
    read(keys, read) {
      const common = readCommon(keys, read, 'job');
      const job = read(keys.get('job'), parsePlatformName);
      return common === undefined || job === undefined ? undefined : { ...common, job };
    },
  },
  model: {
    keys: ['account', 'workspace', 'model', 'answersTo', 'timeLimitSeconds'],
    required: ['workspace', 'model', 'answersTo'],
    read(keys, read) {
      const common = readCommon(keys, read, 'model');
      const model = read(keys.get('model'), parsePlatformName);
      if (common === undefined || model === undefined) return undefined;
      return { ...common, model, answersTo: readNames(keys.get('answersTo'), read) };
    },
  },
};

function readCommon(keys: ReadonlyMap<string, Given>, read: ReadText, type: ActingType): OnPlatform | undefined {
  const account = read(keys.get('account'), parseLongName);
  const workspace = read(keys.get('workspace'), parsePlatformName);
  const timeLimitSeconds = read(keys.get('timeLimitSeconds'), integerParser(1, 900)) ?? usualTimeLimits[type];
  return workspace === undefined ? undefined : { account, workspace, timeLimitSeconds };
}

/** A name on the platform: it becomes a step of a path. */
const parsePlatformName: Parse<string> = (value) => {
  const text = parseText(value, 100);
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected a name on the platform: letters, digits and . _ -`);
};

const parseLongName: Parse<string> = (value) => parseText(value, 200);

/** Names in a list, or a single one. What they name is checked when all sinks are known. */
function readNames(given: Given | undefined, read: ReadText): readonly string[] {
  return namesIn(given).flatMap((item) => read(item, (value) => parseText(value, 100)) ?? []);
}

function namesIn(given: Given | undefined): readonly Given[] {
  if (given === undefined) return [];
  return typeof given.value === 'object' && given.value?.kind === 'list' ? given.value.items : [given];
}

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
  readonly keys: ReadonlyMap<string, Given>;
}

/** Reports what a sink that calls the platform names and the configuration does not have. */
export function reportActing(sinks: readonly GivenSink[], known: PlatformKnown, problems: Problems): void {
  const readers = sinks
    .filter(({ type }) => type !== undefined && type !== 'pagerduty' && !(type in actingSinkTypes))
    .map(({ name }) => name);
  for (const { type, entry, keys } of sinks) {
    if (type === undefined || !(type in actingSinkTypes)) continue;
    if (type !== 'job' && !known.hasInferenceUrl) {
      problems.report(entry, `found no inferenceUrl, which a sink of type ${type} needs; write it at the top level`);
    }
    reportAccount(entry, keys.get('account'), known.accounts, problems);
    const answersTo = keys.get('answersTo');
    const isEmpty = answersTo !== undefined && namesIn(answersTo).length === 0;
    if (isEmpty) problems.report(answersTo, 'found an empty list, expected sinks such as [finops]');
    for (const item of namesIn(answersTo)) {
      const name = readValue(item, (value) => parseText(value, 100), problems);
      if (name === undefined || readers.includes(name)) continue;
      const expected =
        readers.length === 0
          ? 'there is none: add one of type slack, teams, webhook, email or log'
          : `expected ${oneOf(readers)}`;
      problems.report(item, `found ${quoted(name)}, which is not a sink that people read; ${expected}`);
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
