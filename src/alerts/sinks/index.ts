import type { SinkSettings } from '../../config/index.ts';
import { openEmail } from './email.ts';
import { openLog } from './log.ts';
import { openPagerDuty } from './pagerduty.ts';
import type { SendMessage, SinkEffects } from './sink.ts';
import { openSlack } from './slack.ts';
import { openTeams } from './teams.ts';
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
  teams: openTeams,
  pagerduty: openPagerDuty,
  email: openEmail,
  log: (_, effects) => openLog(effects),
  // These load the interface of the platform, which most projects' sinks do not call.
  agent: (settings, effects) => opening(async () => (await import('./agent.ts')).openAgent(settings, effects)),
  job: (settings, effects) => opening(async () => (await import('./job.ts')).openJob(settings, effects)),
  model: (settings, effects) => opening(async () => (await import('./model.ts')).openModel(settings, effects)),
};

/** A sink that is loaded with its first message. */
function opening(open: () => Promise<SendMessage>): SendMessage {
  return async (message) => (await open())(message);
}

/** Opens a sink without sending anything. */
export function openSink(settings: SinkSettings, effects: SinkEffects): SendMessage {
  const open = openers[settings.type] as (settings: SinkSettings, effects: SinkEffects) => SendMessage;
  return open(settings, effects);
}
