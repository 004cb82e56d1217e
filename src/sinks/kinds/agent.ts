import { whole, z } from '../../yaml/index.ts';
import { type AgentSettings, answersTo, common, platformName } from '../acting-settings.ts';
import { sinkMapping } from '../settings.ts';
import { opening, type SinkType } from '../sink.ts';

export const agent: SinkType<AgentSettings> = {
  role: 'platform',
  shape: () =>
    sinkMapping('agent', {
      ...{ ...common, agent: platformName, answersTo: z._default(answersTo, []) },
      timeLimitSeconds: z._default(whole(1, 900), 60),
    }),
  secrets: () => [],
  open: (settings, effects) => opening(async () => (await import('../agent-call.ts')).openAgent(settings, effects)),
  previews: { json: async (message, settings) => (await import('../agent-call.ts')).agentPreview(message, settings) },
};
