import { whole, z } from '../../yaml/index.ts';
import { answersTo, common, type ModelSettings, platformName } from '../acting-settings.ts';
import { sinkMapping } from '../settings.ts';
import { opening, type SinkType } from '../sink.ts';

export const model: SinkType<ModelSettings> = {
  role: 'writer',
  shape: () =>
    sinkMapping('model', {
      ...{ ...common, model: platformName, answersTo },
      timeLimitSeconds: z._default(whole(1, 900), 30),
    }),
  secrets: () => [],
  open: (settings, effects) => opening(async () => (await import('../model-call.ts')).openModel(settings, effects)),
  previews: { json: async (message, settings) => (await import('../model-call.ts')).modelPreview(message, settings) },
};
