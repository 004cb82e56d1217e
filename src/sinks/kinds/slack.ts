import { UsageError } from '../../base/errors.ts';
import { quoted } from '../../text/choices.ts';
import { type Parse, parseText, rule, type Shape, single, z } from '../../yaml/index.ts';
import { drawnPictures } from '../drawn-pictures.ts';
import {
  allowPrivateNetwork,
  parseTargetUrl,
  placeOf,
  sinkMapping,
  type Target,
  targetCheck,
  urlSecrets,
} from '../settings.ts';
import { opening, type SinkType } from '../sink.ts';
import type { SlackBotSettings } from '../slack-bot.ts';

export type SlackSettings = SlackWebhookSettings | SlackBotSettings;

/** Posts to an incoming webhook: text only. */
export interface SlackWebhookSettings extends Target {
  readonly type: 'slack';
  /** The address of an incoming webhook, which is a secret. */
  readonly url: string;
}

/** The token goes to Slack alone, or to a server of a private network. The first is the usual one. */
const apis = ['https://slack.com/api', 'https://slack-gov.com/api'] as const;

/** Slack's answers to a webhook message that it refuses. */
const slackWords = [
  ...['invalid_payload', 'invalid_blocks', 'no_text', 'no_service', 'no_service_id', 'no_team', 'team_disabled'],
  ...['user_not_found', 'channel_not_found', 'channel_is_archived', 'action_prohibited', 'invalid_token'],
  ...['posting_to_general_channel_denied', 'too_many_attachments', 'no_active_hooks', 'rollup_error'],
];

export const slack: SinkType<SlackSettings> = {
  role: 'people',
  shape: slackShape,
  secrets: (settings) => ('botToken' in settings ? [settings.botToken] : urlSecrets(settings.url)),
  secretKeys: ['url', 'botToken'],
  place: (settings) => placeOf('botToken' in settings ? settings.apiUrl : settings.url, settings),
  showsPictures: (settings) => 'botToken' in settings,
  open: (settings, effects) =>
    opening(async () => {
      if ('botToken' in settings) return (await import('../slack-bot.ts')).openSlackBot(settings, effects);
      const { post } = await import('../post.ts');
      const { slackMessage } = await import('../slack-message.ts');
      const { signal } = effects;
      return (message) =>
        post({ ...settings, headers: {}, body: JSON.stringify(slackMessage(message)), signal, knownWords: slackWords });
    }),
  previews: {
    html: async (message, settings, log) => {
      const { slackHtml } = await import('../slack-page.ts');
      return slackHtml(message, 'botToken' in settings ? await drawnPictures(message, log) : []);
    },
    json: async (message, settings) => {
      const { slackMessage } = await import('../slack-message.ts');
      const sent = slackMessage(message);
      return 'botToken' in settings ? { channel: settings.channel, ...sent } : sent;
    },
  },
};

function slackShape() {
  const url = single(parseTargetUrl);
  const shape = sinkMapping('slack', {
    ...{ url: z.optional(url), botToken: z.optional(single(parseBotToken)), channel: z.optional(single(parseChannel)) },
    ...{ apiUrl: z.optional(url), allowPrivateNetwork },
  }).check(rule(checkSlack), rule(targetCheck(apis)));
  shape.register(z.globalRegistry, {
    dependentRequired: { botToken: ['channel'], channel: ['botToken'], apiUrl: ['botToken'] },
    oneOf: [{ required: ['url'] }, { required: ['botToken'] }],
  });
  return z.pipe(
    shape,
    z.transform(({ url: own, botToken, channel, apiUrl = apis[0], ...rest }) =>
      botToken === undefined
        ? { ...rest, url: own }
        : { ...rest, botToken, channel, apiUrl: apiUrl.replace(/\/$/, '') },
    ),
  ) as Shape<SlackSettings>;
}

/** A slack sink has an incoming webhook, or a bot with a channel. */
function checkSlack(keys: object, report: (message: string) => void): void {
  const botKeys = ['channel', 'apiUrl'].filter((key) => key in keys);
  if ('botToken' in keys) {
    if ('url' in keys) report('found url and botToken, expected one of them; remove the other one');
    if (!('channel' in keys)) report('found no channel, which botToken needs; write it');
  } else if (botKeys.length > 0) report(`found ${botKeys.join(' and ')} without botToken, which they need; write it`);
  else if (!('url' in keys)) report('found no url, which a slack sink needs; write it, or botToken and channel');
}

/** The value is never quoted: it is a secret. */
const parseBotToken: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (/^(xoxe\.)?xoxb-[A-Za-z0-9-]{8,}$/.test(text)) return text;
  throw new UsageError(
    'found no bot token, expected one that starts with xoxb-, from "OAuth & Permissions" of a Slack app',
  );
};

const parseChannel: Parse<string> = (value) => {
  const text = parseText(value, 80);
  if (/^#?[\p{L}\p{N}_-]+$/u.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected the id of a channel such as C0123456789, or its name`);
};
