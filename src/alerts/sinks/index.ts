import type { SinkSettings } from '../../config/index.ts';
import { openAgent } from './agent.ts';
import { openEmail } from './email.ts';
import { openJob } from './job.ts';
import { openLog } from './log.ts';
import { openModel } from './model.ts';
import type { SendMessage, SinkEffects } from './sink.ts';
import { openSlack } from './slack.ts';
import { openWebhook } from './webhook.ts';

/** Opens a sink of each type. A new type needs one line here. */
const openers: {
  readonly [Type in SinkSettings['type']]: (
    settings: Extract<SinkSettings, { type: Type }>,
    effects: SinkEffects,
  ) => SendMessage;
} = {
  slack: openSlack,
  webhook: openWebhook,
  email: openEmail,
  log: (_, effects) => openLog(effects),
  agent: openAgent,
  job: openJob,
  model: openModel,
};

/** Opens a sink without sending anything. */
export function openSink(settings: SinkSettings, effects: SinkEffects): SendMessage {
  const open = openers[settings.type] as (settings: SinkSettings, effects: SinkEffects) => SendMessage;
  return open(settings, effects);
}
