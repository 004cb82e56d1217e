import { UsageError } from '../base/errors.ts';
import { quoted } from '../text/choices.ts';
import { oneOrMore, parseText, single, whole, z } from '../yaml/index.ts';
import type { AgentSettings, JobSettings, ModelSettings } from './acting-settings.ts';
import { sinkMapping } from './settings.ts';
import { opening, type SinkType } from './sink.ts';

/** A name on the platform: it becomes a step of a path. */
const platformName = single(
  (value) => {
    const text = parseText(value, 100);
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text)) return text;
    throw new UsageError(`found ${quoted(text)}, expected a name on the platform: letters, digits and . _ -`);
  },
  { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', maxLength: 100 },
);

/** What every sink that calls the platform has. */
const common = { account: z.optional(single((value) => parseText(value, 200))), workspace: platformName };
/** Names of sinks. What they name is checked when all sinks are known. */
const answersTo = oneOrMore(
  single((value) => parseText(value, 100)),
  'sinks such as [finops]',
);

export const agent: SinkType<AgentSettings> = {
  role: 'platform',
  shape: () =>
    sinkMapping('agent', {
      ...{ ...common, agent: platformName, answersTo: z._default(answersTo, []) },
      timeLimitSeconds: z._default(whole(1, 900), 60),
    }),
  secrets: () => [],
  open: (settings, effects) => opening(async () => (await import('./agent.ts')).openAgent(settings, effects)),
  previews: { json: async (message, settings) => (await import('./agent.ts')).agentPreview(message, settings) },
};

export const job: SinkType<JobSettings> = {
  role: 'platform',
  shape: () => sinkMapping('job', { ...common, job: platformName, timeLimitSeconds: z._default(whole(1, 900), 60) }),
  secrets: () => [],
  open: (settings, effects) => opening(async () => (await import('./job.ts')).openJob(settings, effects)),
  previews: { json: async (message, settings) => (await import('./job.ts')).jobPreview(message, settings) },
};

export const model: SinkType<ModelSettings> = {
  role: 'writer',
  shape: () =>
    sinkMapping('model', {
      ...{ ...common, model: platformName, answersTo },
      timeLimitSeconds: z._default(whole(1, 900), 30),
    }),
  secrets: () => [],
  open: (settings, effects) => opening(async () => (await import('./model.ts')).openModel(settings, effects)),
  previews: { json: async (message, settings) => (await import('./model.ts')).modelPreview(message, settings) },
};
