import { messageOf } from '../base/errors.ts';
import { maxSentenceLength, oneLine } from '../text/safe-text.ts';
import { type DrawnPicture, drawnPictures } from './drawn-pictures.ts';
import type { OutgoingMessage } from './message.ts';
import { type Answer, exchange, outcomeOf } from './post.ts';
import type { Target } from './settings.ts';
import type { Attempt, SendMessage, SinkEffects } from './sink.ts';
import { slackMessage } from './slack-message.ts';

/** Posts as a bot of a Slack app, which can also upload pictures. */
export interface SlackBotSettings extends Target {
  readonly type: 'slack';
  readonly botToken: string;
  /** The id of a channel, such as C0123456789, or its name. */
  readonly channel: string;
  /** The base address of the methods of Slack's API, without a slash at its end. */
  readonly apiUrl: string;
}

/** Errors of Slack's API that may be shown, and whether another attempt may help. */
const knownErrors: Readonly<Record<string, 'passing' | 'final' | 'unknown'>> = {
  ...Object.fromEntries(
    ['ratelimited', 'rate_limited', 'request_timeout', 'service_unavailable'].map((word) => [word, 'passing']),
  ),
  // Slack may have posted the message before it failed.
  ...Object.fromEntries(['internal_error', 'fatal_error'].map((word) => [word, 'unknown'])),
  ...Object.fromEntries(
    [
      ...['channel_not_found', 'not_in_channel', 'is_archived', 'invalid_auth', 'not_authed', 'account_inactive'],
      ...[
        'token_revoked',
        'token_expired',
        'missing_scope',
        'not_allowed_token_type',
        'no_permission',
        'access_denied',
      ],
      ...[
        'restricted_action',
        'team_access_not_granted',
        'msg_too_long',
        'no_text',
        'invalid_blocks',
        'ekm_access_denied',
      ],
      ...['org_login_required', 'posting_to_channel_denied', 'file_uploads_disabled', 'storage_limit_reached'],
    ].map((word) => [word, 'final']),
  ),
};

/** What to do about an error, if people can do something. */
const whatToDo: Readonly<Record<string, string>> = {
  not_in_channel: 'invite the app to the channel',
  channel_not_found: 'set channel in costbook.yaml to one that exists, and invite the app to it',
  missing_scope: 'give the app the scopes chat:write and files:write',
  is_archived: 'take the channel out of the archive, or name another one',
  invalid_auth: 'correct botToken',
  not_authed: 'correct botToken',
  token_revoked: 'replace botToken',
  token_expired: 'replace botToken',
  account_inactive: 'reactivate the account of the token, or replace botToken',
};

/** The content of a successful answer, or the outcome of a failed call. */
type Called = { readonly content: Readonly<Record<string, unknown>> } | Exclude<Attempt, { outcome: 'delivered' }>;

/**
 * Opens a sink for a bot of a Slack app. The message counts as delivered once Slack has posted it: its pictures follow in
 * its thread, and one that fails is logged and never sends the message again.
 */
export function openSlackBot(settings: SlackBotSettings, { log, signal }: SinkEffects): SendMessage {
  return async (message) => {
    const posted = await callJson(settings, 'chat.postMessage', postOf(message, settings.channel), signal);
    if ('outcome' in posted) return { ...posted, reason: `channel ${settings.channel}: ${posted.reason}` };
    const { channel, ts } = posted.content;
    try {
      const drawn = await drawnPictures(message, log);
      if (drawn.length > 0) await upload(settings, drawn, { channel_id: channel, thread_ts: ts }, signal);
    } catch (error) {
      // Also after a signal: the message is posted, and that must be stored.
      const reason = messageOf(error);
      log.warn('alert.no_picture', 'Slack has the message, but not its pictures', { messageId: message.id, reason });
    }
    return { outcome: 'delivered' };
  };
}

/** The content of `chat.postMessage`. Pure. */
export function postOf(message: OutgoingMessage, channel: string): Readonly<Record<string, unknown>> {
  return { channel, ...slackMessage(message) };
}

/** Uploads pictures and shares them in the thread of a message. Throws if Slack refuses one. */
async function upload(
  settings: SlackBotSettings,
  pictures: readonly DrawnPicture[],
  place: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const files: { readonly id: unknown; readonly title: string }[] = [];
  for (const { png, title, alternative } of pictures) {
    const form = new URLSearchParams({
      filename: `costbook-${files.length + 1}.png`,
      length: String(png.length),
      alt_txt: oneLine(alternative, maxSentenceLength),
    });
    const begun = await call(settings, 'files.getUploadURLExternal', form.toString(), signal, formType);
    const { upload_url: url, file_id: id } = contentOf(begun, 'files.getUploadURLExternal');
    const target = uploadTarget(url, settings);
    const { allowPrivateNetwork } = settings;
    // Without the token: the address alone permits the upload.
    const sent = await exchange({
      url: target,
      allowPrivateNetwork,
      headers: {},
      body: png,
      contentType: 'image/png',
      signal,
    });
    const attempt = 'outcome' in sent ? sent : outcomeOf(sent, new URL(target).hostname, []);
    if (attempt.outcome !== 'delivered') throw new Error(attempt.reason);
    files.push({ id, title: oneLine(title, maxTitle) });
  }
  contentOf(
    await callJson(settings, 'files.completeUploadExternal', { files, ...place }, signal),
    'files.completeUploadExternal',
  );
}

const maxTitle = 200;
const formType = 'application/x-www-form-urlencoded';

/** Where Slack wants the bytes: on one of its own hosts, or on the host of the API. */
function uploadTarget(url: unknown, { apiUrl }: SlackBotSettings): string {
  const target = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  const isSlack = target?.protocol === 'https:' && /(^|\.)slack(-gov)?\.com$/.test(target.hostname);
  if (target === undefined || !(isSlack || target.host === new URL(apiUrl).host)) {
    throw new Error('Slack answered with an upload address that is not on a host of Slack');
  }
  return target.href;
}

function contentOf(called: Called, method: string): Readonly<Record<string, unknown>> {
  if ('outcome' in called) throw new Error(`${method}: ${called.reason}`);
  return called.content;
}

function callJson(
  settings: SlackBotSettings,
  method: string,
  content: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Called> {
  return call(settings, method, JSON.stringify(content), signal);
}

/** Calls a method of Slack's API once. Throws only the signal's reason. */
async function call(
  { apiUrl, botToken, allowPrivateNetwork }: SlackBotSettings,
  method: string,
  body: string,
  signal: AbortSignal,
  contentType?: string,
): Promise<Called> {
  const url = `${apiUrl}/${method}`;
  const headers = { authorization: `Bearer ${botToken}` };
  const type = contentType === undefined ? {} : { contentType };
  const answer = await exchange({ url, allowPrivateNetwork, headers, body, signal, ...type });
  return 'outcome' in answer ? answer : calledOf(answer, new URL(apiUrl).hostname);
}

/** Slack answers 200 to failed calls too: the content says whether it was done. */
function calledOf(answer: Answer, host: string): Called {
  const attempt = outcomeOf(answer, host, []);
  if (attempt.outcome !== 'delivered') return attempt;
  const content = objectOf(answer.text);
  if (content?.['ok'] === true) return { content };
  if (content?.['ok'] !== false) {
    return {
      outcome: 'unknown',
      reason: `${host} answered 200 without saying whether it accepted the call`,
      isPassing: true,
    };
  }
  const error = String(content['error']);
  const kind = Object.hasOwn(knownErrors, error) ? knownErrors[error] : undefined;
  const todo = Object.hasOwn(whatToDo, error) ? `: ${whatToDo[error]}` : '';
  return {
    outcome: kind === 'unknown' ? 'unknown' : 'refused',
    reason:
      kind === undefined
        ? `${host} refused the call with an error unknown to Costbook`
        : `${host} refused the call (${error})${todo}`,
    isPassing: kind === 'passing' || kind === 'unknown',
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
