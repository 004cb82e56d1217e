import type { SlackSettings } from '../../config/index.ts';
import { post } from './post.ts';
import type { SendMessage, SinkEffects } from './sink.ts';
import { openSlackBot } from './slack-bot.ts';
import { slackMessage } from './slack-message.ts';

/** Slack's answers to a webhook message that it refuses. */
const slackWords = [
  ...['invalid_payload', 'invalid_blocks', 'no_text', 'no_service', 'no_service_id', 'no_team', 'team_disabled'],
  ...['user_not_found', 'channel_not_found', 'channel_is_archived', 'action_prohibited', 'invalid_token'],
  ...['posting_to_general_channel_denied', 'too_many_attachments', 'no_active_hooks', 'rollup_error'],
];

/** Opens a sink for Slack: an incoming webhook, or a bot, which also uploads pictures. */
export function openSlack(settings: SlackSettings, effects: SinkEffects): SendMessage {
  if ('botToken' in settings) return openSlackBot(settings, effects);
  const { signal } = effects;
  return (message) =>
    post({ ...settings, headers: {}, body: JSON.stringify(slackMessage(message)), signal, knownWords: slackWords });
}
