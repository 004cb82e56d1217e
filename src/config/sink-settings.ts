import { isIP } from 'node:net';
import { UsageError } from '../base/errors.ts';
import { oneOf, quoted } from '../text/choices.ts';
import {
  choice,
  choiceParser,
  entriesOf,
  flag,
  type Given,
  isMissingKey,
  itemsOf,
  mapping,
  oneOrMore,
  type Parse,
  type Problems,
  parseText,
  readAs,
  readValue,
  rule,
  single,
  valueIn,
  whole,
  z,
} from '../yaml/index.ts';
import { type ActingSettings, actingKeys, type GivenSink, type PlatformKnown, reportActing } from './acting-sinks.ts';

/** The settings of a sink in costbook.yaml. */
export type SinkSettings =
  | SlackSettings
  | WebhookSettings
  | TeamsSettings
  | PagerDutySettings
  | EmailSettings
  | LogSettings
  | ActingSettings;

interface Target {
  /** Whether the address may be in a private network or on this machine, also without TLS. */
  readonly allowPrivateNetwork: boolean;
}

export type SlackSettings = SlackWebhookSettings | SlackBotSettings;

/** Posts to an incoming webhook: text only. */
export interface SlackWebhookSettings extends Target {
  readonly type: 'slack';
  /** The address of an incoming webhook, which is a secret. */
  readonly url: string;
}

/** Posts as a bot of a Slack app, which can also upload pictures. */
export interface SlackBotSettings extends Target {
  readonly type: 'slack';
  readonly botToken: string;
  /** The id of a channel, such as C0123456789, or its name. */
  readonly channel: string;
  /** The base address of the methods of Slack's API, without a slash at its end. */
  readonly apiUrl: string;
}

export interface WebhookSettings extends Target {
  readonly type: 'webhook';
  /** May contain a secret. */
  readonly url: string;
  /** The signing key: `whsec_` and the base64 of the key, or the key itself. */
  readonly secret: string;
}

/** Posts to a Workflows webhook of Microsoft Teams. */
export interface TeamsSettings extends Target {
  readonly type: 'teams';
  /** The address of the workflow, which is a secret. */
  readonly url: string;
}

/** Sends events to PagerDuty: an incident for each alert. */
export interface PagerDutySettings extends Target {
  readonly type: 'pagerduty';
  /** The integration key of a service: 32 characters, a secret. */
  readonly routingKey: string;
  /** Where events are accepted; the European service region has another address. */
  readonly apiUrl: string;
}

export interface EmailSettings extends Target {
  readonly type: 'email';
  readonly host: string;
  readonly port: number;
  /** starttls: after a plain greeting. implicit: from the first byte. none: never. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
}

export interface LogSettings {
  readonly type: 'log';
}

/** A sink by its name. */
export interface Sink {
  readonly name: string;
  readonly type: SinkSettings['type'] | undefined;
  /** Undefined if one of its variables is not set; only commands that notify nobody accept that. */
  readonly settings: SinkSettings | undefined;
}

/** The sinks that alerts can name: all but models, which only write for others. */
export function alertSinksOf(sinks: readonly Sink[]): readonly string[] {
  return sinks.filter(({ type }) => type !== 'model').map(({ name }) => name);
}

/** The sinks that a summary can go to: those that people read. */
export function summarySinksOf(sinks: readonly Sink[]): readonly string[] {
  return sinks.filter(({ type }) => type !== 'model' && type !== 'pagerduty').map(({ name }) => name);
}

/** The secrets of a sink, which no output may show. */
export function secretsOf(settings: SinkSettings): readonly string[] {
  if (settings.type === 'slack') return 'botToken' in settings ? [settings.botToken] : urlSecrets(settings.url);
  if (settings.type === 'teams') return urlSecrets(settings.url);
  if (settings.type === 'pagerduty') return [settings.routingKey];
  if (settings.type === 'webhook') return [settings.secret, ...urlSecrets(settings.url)];
  return settings.type === 'email' && settings.password !== undefined ? [settings.password] : [];
}

const secretPrefix = 'whsec_';

/** Whether Standard Webhooks libraries can verify signatures with this secret: they decode base64. */
export function isStandardSecret(secret: string): boolean {
  return secret.startsWith(secretPrefix);
}

/** The bytes of the signing key: base64 after `whsec_`, otherwise the text itself. */
export function signatureKey(secret: string): Buffer {
  return isStandardSecret(secret) ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : Buffer.from(secret);
}

/** An address, and its part after the host: each alone gives access. */
export function urlSecrets(url: string): string[] {
  const { pathname, search } = new URL(url);
  return [url, ...[`${pathname}${search}`, pathname].filter((path) => path.length > 8)];
}

/** Keys whose values are secrets. */
export const secretKeys = ['url', 'secret', 'password', 'botToken', 'routingKey'] as const;

/** A token goes to the service that it opens alone, or to a server of a private network. The first is the usual one. */
const apis = {
  slack: ['https://slack.com/api', 'https://slack-gov.com/api'],
  pagerduty: ['https://events.pagerduty.com/v2/enqueue', 'https://events.eu.pagerduty.com/v2/enqueue'],
} as const;

const typeNames = ['slack', 'webhook', 'teams', 'pagerduty', 'email', 'log', 'agent', 'job', 'model'] as const;
const allowPrivateNetwork = z._default(flag, false);

/** The keys of every type, for sinks whose type is not known. */
const everyKey: Record<string, z.ZodMiniType> = {};

function sink<T extends Record<string, z.ZodMiniType>>(type: SinkSettings['type'], keys: T) {
  for (const key of Object.keys(keys)) everyKey[key] = z.optional(z.unknown());
  return mapping({ type: choice([type]), ...keys }, { expected: 'a sink such as { type: log }' });
}

/** What the settings of each type of sink may have. */
export function sinkShapes() {
  const url = single(parseTargetUrl);
  const address = single(parseAddress);
  const slackKeys = {
    ...{ url: z.optional(url), botToken: z.optional(single(parseBotToken)), channel: z.optional(single(parseChannel)) },
    ...{ apiUrl: z.optional(url), allowPrivateNetwork },
  };
  const slack = sink('slack', slackKeys).check(rule(checkSlack), rule(targetCheck(apis.slack)));
  slack.register(z.globalRegistry, {
    dependentRequired: { botToken: ['channel'], channel: ['botToken'], apiUrl: ['botToken'] },
    oneOf: [{ required: ['url'] }, { required: ['botToken'] }],
  });
  const email = sink('email', {
    host: single(parseHost),
    port: z.optional(whole(1, 65_535)),
    tls: z._default(choice(['starttls', 'implicit', 'none']), 'starttls'),
    user: z.optional(single(parseLine)),
    password: z.optional(single(parseLine)),
    from: address,
    to: oneOrMore(address, 'addresses such as [finops@example.com]'),
    allowPrivateNetwork,
  }).check(
    rule((given, report) => {
      if ('user' in given !== 'password' in given)
        report('found only one of user and password, expected both or none; write the other one');
    }),
  );
  email.register(z.globalRegistry, { dependentRequired: { user: ['password'], password: ['user'] } });
  return {
    slack: z.pipe(
      slack,
      z.transform(({ url: own, botToken, channel, apiUrl = apis.slack[0], ...rest }) =>
        botToken === undefined
          ? { ...rest, url: own }
          : { ...rest, botToken, channel, apiUrl: apiUrl.replace(/\/$/, '') },
      ),
    ),
    webhook: sink('webhook', { url, secret: single(parseSecret), allowPrivateNetwork }).check(rule(targetCheck())),
    teams: sink('teams', { url, allowPrivateNetwork }).check(rule(targetCheck())),
    pagerduty: sink('pagerduty', {
      routingKey: single(parseRoutingKey, { type: 'string', pattern: '^([A-Za-z0-9]{32}|.*\\$\\{.*\\}.*)$' }),
      ...{ apiUrl: z._default(url, apis.pagerduty[0]), allowPrivateNetwork },
    }).check(rule(targetCheck(apis.pagerduty))),
    email: z.pipe(
      email,
      z.transform((given) => ({ ...given, port: given.port ?? (given.tls === 'implicit' ? 465 : 587) })),
    ),
    log: sink('log', {}),
    agent: sink('agent', actingKeys.agent),
    job: sink('job', actingKeys.job),
    model: sink('model', actingKeys.model),
  };
}

const expected = 'sinks by name, such as finops: { type: slack, url: "$' + '{SLACK_WEBHOOK_URL}" }';

/**
 * Reads the sinks of a configuration, in which references are replaced, and reports every mistake. A sink with a variable
 * that is not set has no settings.
 */
export function readSinks(given: Given, known: PlatformKnown, problems: Problems): readonly Sink[] {
  const shapes = sinkShapes();
  const written: GivenSink[] = [];
  const sinks = [...(entriesOf(given, expected, problems) ?? [])].map(([name, entry]): Sink => {
    if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u.test(name)) {
      problems.report(entry, `found the name ${quoted(name)}, expected letters, digits and . _ - without spaces`);
    }
    // The valid keys depend on the type.
    const type = typeNames.find((one) => one === valueIn(entry, 'type')?.value);
    const anySink = mapping(
      { type: choice(typeNames), ...everyKey },
      { expected: 'a sink such as { type: log }', needed: { type: `type: ${oneOf(typeNames)}` } },
    );
    const read = readAs(entry, type === undefined ? anySink : shapes[type], problems);
    written.push({ name, type, entry });
    return {
      name,
      type,
      settings: type === undefined || isMissingKey(entry) ? undefined : (read as SinkSettings | undefined),
    };
  });
  reportActing(written, known, problems);
  return sinks;
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

interface TargetGiven {
  readonly url?: string | undefined;
  readonly apiUrl?: string | undefined;
  readonly allowPrivateNetwork: boolean;
}

/** Reports addresses that a secret must not be sent to. `known` are those of the service whose token it is. */
function targetCheck(known: readonly string[] = []) {
  return (sink: TargetGiven, report: (message: string, ...path: string[]) => void): void => {
    const key = 'url' in sink ? 'url' : 'apiUrl';
    const target = sink[key];
    if (target === undefined || sink.allowPrivateNetwork) return;
    if (target.startsWith('http:')) report(plainAddress, key);
    else if (key === 'apiUrl' && known.every((each) => new URL(each).hostname !== new URL(target).hostname))
      report(`found an address of another host, expected ${oneOf(known)}`, key);
  };
}

/** What is wrong with an address that a secret must not be sent to. */
export const plainAddress =
  'found http, which is not encrypted, expected https; allowPrivateNetwork: true permits http to private addresses';

/** The value is never quoted: it may contain a secret. */
export const parseTargetUrl: Parse<string> = (value) => {
  const text = parseText(value, 4096);
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    throw new UsageError('found no http or https address, expected one such as https://hooks.example.com/…');
  if (url.username !== '' || url.password !== '')
    throw new UsageError('found credentials in the address, expected none');
  if (url.hash !== '') throw new UsageError('found a fragment (#) in the address, expected none; remove it');
  return url.href;
};

const parseSecret: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (text.length < 16)
    throw new UsageError('found fewer than 16 characters, expected a longer secret that cannot be guessed');
  const isBase64 = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  if (isStandardSecret(text) && (!isBase64 || signatureKey(text).length < 24)) {
    throw new UsageError(
      `found whsec_ without at least 24 bytes of base64, expected whsec_ followed by the output of "openssl rand -base64 32"`,
    );
  }
  return text;
};

/** The value is never quoted: it is a secret. */
const parseBotToken: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (/^(xoxe\.)?xoxb-[A-Za-z0-9-]{8,}$/.test(text)) return text;
  throw new UsageError(
    'found no bot token, expected one that starts with xoxb-, from "OAuth & Permissions" of a Slack app',
  );
};

/** The value is never quoted: it is a secret. */
const parseRoutingKey: Parse<string> = (value) => {
  const text = parseText(value, 100);
  if (/^[A-Za-z0-9]{32}$/.test(text)) return text;
  throw new UsageError(
    'found no integration key of 32 letters and digits, expected the one of an "Events API V2" integration of a service',
  );
};

const parseChannel: Parse<string> = (value) => {
  const text = parseText(value, 80);
  if (/^#?[\p{L}\p{N}_-]+$/u.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected the id of a channel such as C0123456789, or its name`);
};

/** A text without line breaks or other control characters. */
const parseLine: Parse<string> = (value) => {
  const text = parseText(value, 1024);
  if (/[\p{Cc}]/u.test(text)) throw new UsageError('found a control character, expected none; remove it');
  return text;
};

const parseHost: Parse<string> = (value) => {
  const text = parseText(value, 253);
  if (/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) || isIP(text) !== 0) return text;
  throw new UsageError(`found ${quoted(text)}, expected a host name such as smtp.example.com, without scheme and port`);
};

/** A plain address for SMTP: no display name, quotes or spaces. */
const parseAddress: Parse<string> = (value) => {
  const text = parseText(value, 254);
  if (/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)) return text;
  throw new UsageError(`found ${quoted(text)}, expected an address such as finops@example.com`);
};

/** Names of sinks: a list, or comma-separated text, as in an environment variable. */
export function readSinkNames(
  given: Given | undefined,
  sinks: readonly Sink[],
  problems: Problems,
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const known = alertSinksOf(sinks);
  const items: readonly Given[] =
    typeof given.value === 'string'
      ? given.value.split(',').map((name) => ({ ...given, value: name.trim() }))
      : itemsOf(given, 'a list of sinks such as [finops]', problems);
  return items.flatMap((item) => {
    const name = readValue(item, (value) => parseText(value, 100), problems);
    if (name === undefined) return [];
    if (known.includes(name)) return [name];
    const which = known.length === 0 ? 'there are none: add it under sinks' : `expected ${oneOf(known)}`;
    problems.report(item, `found ${quoted(name)}, which is not a sink; ${which}`);
    return [];
  });
}

/** Kinds of alerts about the data. Budget thresholds set their own severity; that of an anomaly depends on its size. */
export const severityKinds = [
  'stale',
  'clock',
  'unproven',
  'check',
  'run',
  'books',
  'listings',
  'closed_month',
  'invoice',
  'dimension',
  'interface',
] as const;
export const alertSeverities = ['info', 'warning', 'critical'] as const;
export type AlertSeverities = Readonly<
  Partial<Record<(typeof severityKinds)[number], (typeof alertSeverities)[number]>>
>;

/** Severities by kind: a mapping, or `unproven=warning,run=info`, as in an environment variable. */
export function readSeverities(given: Given | undefined, problems: Problems): AlertSeverities {
  if (given === undefined) return {};
  const pairs: readonly (readonly [string, Given])[] =
    typeof given.value === 'string'
      ? given.value.split(',').map((pair) => {
          const [kind = '', severity = ''] = pair.split('=').map((part) => part.trim());
          return [kind, { ...given, value: severity }];
        })
      : [...(entriesOf(given, 'severities by kind, such as unproven: warning', problems) ?? [])];
  const read = pairs.flatMap(([name, severity]) => {
    const kind = severityKinds.find((known) => known === name);
    if (kind === undefined) {
      problems.report(severity, `found the kind ${quoted(name)}, expected ${oneOf(severityKinds)}`);
    }
    const value = readValue(severity, choiceParser(alertSeverities), problems);
    return kind === undefined || value === undefined ? [] : [[kind, value] as const];
  });
  return Object.fromEntries(read);
}
