import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { oneOrMore, parseText, single, z } from '../yaml/index.ts';

/** What a sink has that calls the platform. */
interface OnPlatform {
  /** The account whose address and token are used; undefined for the only one. */
  readonly account?: string | undefined;
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

/** Whether a sink calls the platform, which costs money and may change something. */
export function isActing(settings: { readonly type: string } | undefined): settings is ActingSettings {
  return settings !== undefined && ['agent', 'job', 'model'].includes(settings.type);
}

/** The sinks that show what this sink answers. */
export function answersToOf(settings: { readonly type: string } | undefined): readonly string[] {
  return isActing(settings) && 'answersTo' in settings ? settings.answersTo : [];
}

/** A name on the platform: it becomes a step of a path. */
export const platformName = single(
  (value) => {
    const text = parseText(value, 100);
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return text;
    throw new UsageError(`found ${quoted(text)}, expected a name on the platform: letters, digits and . _ -`);
  },
  { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', maxLength: 100 },
);

/** What every sink that calls the platform has. */
export const common = { account: z.optional(single((value) => parseText(value, 200))), workspace: platformName };
/** Names of sinks. What they name is checked when all sinks are known. */
export const answersTo = oneOrMore(
  single((value) => parseText(value, 100)),
  'sinks such as [finops]',
);
