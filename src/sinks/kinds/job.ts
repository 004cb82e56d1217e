import { whole, z } from '../../yaml/index.ts';
import { common, type JobSettings, platformName } from '../acting-settings.ts';
import { sinkMapping } from '../settings.ts';
import { opening, type SinkType } from '../sink.ts';

export const job: SinkType<JobSettings> = {
  role: 'platform',
  shape: () => sinkMapping('job', { ...common, job: platformName, timeLimitSeconds: z._default(whole(1, 900), 60) }),
  secrets: () => [],
  open: (settings, effects) => opening(async () => (await import('../job-call.ts')).openJob(settings, effects)),
  previews: { json: async (message, settings) => (await import('../job-call.ts')).jobPreview(message, settings) },
};
