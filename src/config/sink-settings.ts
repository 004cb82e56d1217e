import { isIP } from 'node:net';
import { UsageError } from '../base/errors.ts';
import { oneOf, quoted } from '../text/choices.ts';
import {
  type ActingSettings,
  actingSinkTypes,
  type GivenSink,
  type PlatformKnown,
  reportActing,
} from './acting-sinks.ts';
import {
  choiceParser,
  entriesOf,
  type Given,
  integerParser,
  itemsOf,
  keysOf,
  type Parse,
  type Problems,
  parseBoolean,
  parseText,
  type ReadText,
  readValue,
} from './yaml.ts';

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

/** A sink's settings; undefined if a required one is missing or wrong, which is reported. */
type Reader = (keys: ReadonlyMap<string, Given>, read: ReadText) => Omit<SinkSettings, 'type'> | undefined;

interface SinkType {
  readonly keys: readonly string[];
  readonly required: readonly string[];
  readonly read: Reader;
}

/** Every type of sink, its keys, and how to parse them. */
const types: Readonly<Record<SinkSettings['type'], SinkType>> = {
  slack: {
    keys: ['url', 'botToken', 'channel', 'apiUrl', 'allowPrivateNetwork'],
    required: [],
    read(keys, read) {
      const { url, allowPrivateNetwork } = readTarget(keys, read);
      const botToken = read(keys.get('botToken'), parseBotToken);
      const channel = read(keys.get('channel'), parseChannel);
      const apiUrl = keys.has('apiUrl') ? read(keys.get('apiUrl'), parseTargetUrl) : apis.slack.usual;
      if (!keys.has('botToken')) return url === undefined ? undefined : { url, allowPrivateNetwork };
      if (botToken === undefined || channel === undefined || apiUrl === undefined) return undefined;
      return { botToken, channel, apiUrl: apiUrl.replace(/\/$/, ''), allowPrivateNetwork };
    },
  },
  webhook: {
    keys: ['url', 'secret', 'allowPrivateNetwork'],
    required: ['url', 'secret'],
    read(keys, read) {
      const { url, allowPrivateNetwork } = readTarget(keys, read);
      const secret = read(keys.get('secret'), parseSecret);
      return url === undefined || secret === undefined ? undefined : { url, secret, allowPrivateNetwork };
    },
  },
  teams: {
    keys: ['url', 'allowPrivateNetwork'],
    required: ['url'],
    read(keys, read) {
      const { url, allowPrivateNetwork } = readTarget(keys, read);
      return url === undefined ? undefined : { url, allowPrivateNetwork };
    },
  },
  pagerduty: {
    keys: ['routingKey', 'apiUrl', 'allowPrivateNetwork'],
    required: ['routingKey'],
    read(keys, read) {
      const routingKey = read(keys.get('routingKey'), parseRoutingKey);
      const apiUrl = keys.has('apiUrl') ? read(keys.get('apiUrl'), parseTargetUrl) : apis.pagerduty.usual;
      const allowPrivateNetwork = read(keys.get('allowPrivateNetwork'), parseBoolean) ?? false;
      return routingKey === undefined || apiUrl === undefined ? undefined : { routingKey, apiUrl, allowPrivateNetwork };
    },
  },
  email: {
    keys: ['host', 'port', 'tls', 'user', 'password', 'from', 'to', 'allowPrivateNetwork'],
    required: ['host', 'from', 'to'],
    read(keys, read) {
      const host = read(keys.get('host'), parseHost);
      const from = read(keys.get('from'), parseAddress);
      const to = readAddresses(keys.get('to'), read);
      const user = read(keys.get('user'), parseLine);
      const password = read(keys.get('password'), parseLine);
      const tls = read(keys.get('tls'), choiceParser(['starttls', 'implicit', 'none'] as const)) ?? 'starttls';
      const port = read(keys.get('port'), integerParser(1, 65_535)) ?? (tls === 'implicit' ? 465 : 587);
      const allowPrivateNetwork = read(keys.get('allowPrivateNetwork'), parseBoolean) ?? false;
      if (host === undefined || from === undefined || to === undefined) return undefined;
      // If user or password is given but its variable is not set, do not fall back to no login.
      if (keys.has('user') !== (user !== undefined) || keys.has('password') !== (password !== undefined))
        return undefined;
      return { host, port, tls, user, password, from, to, allowPrivateNetwork };
    },
  },
  log: { keys: [], required: [], read: () => ({}) },
  ...actingSinkTypes,
};

/** A token goes to the service that it opens alone, or to a server of a private network. */
const apis: Readonly<Record<'slack' | 'pagerduty', { readonly usual: string; readonly others: readonly string[] }>> = {
  slack: { usual: 'https://slack.com/api', others: ['https://slack-gov.com/api'] },
  pagerduty: {
    usual: 'https://events.pagerduty.com/v2/enqueue',
    others: ['https://events.eu.pagerduty.com/v2/enqueue'],
  },
};

/** The keys and required keys of each type of sink; the schema of costbook.yaml is generated from them. */
export const sinkKeys: Readonly<Record<SinkSettings['type'], Pick<SinkType, 'keys' | 'required'>>> = types;

const typeNames = Object.keys(types) as SinkSettings['type'][];
const expected = 'sinks by name, such as finops: { type: slack, url: "$' + '{SLACK_WEBHOOK_URL}" }';

/**
 * Parses the sinks of a configuration and reports every mistake. If `read` does not report unset variables, a sink with
 * such a variable has no settings.
 */
export function readSinks(given: Given, read: ReadText, known: PlatformKnown, problems: Problems): readonly Sink[] {
  const sinks: Sink[] = [];
  const written: GivenSink[] = [];
  for (const [name, entry] of entriesOf(given, expected, problems) ?? []) {
    if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u.test(name)) {
      problems.report(entry, `found the name ${quoted(name)}, expected letters, digits and . _ - without spaces`);
    }
    const { type, keys, settings } = readSink(entry, read, problems);
    sinks.push({ name, type, settings });
    written.push({ name, type, entry, keys });
  }
  reportActing(written, known, problems);
  return sinks;
}

function readSink(
  entry: Given,
  read: ReadText,
  problems: Problems,
): Pick<Sink, 'type' | 'settings'> & { readonly keys: ReadonlyMap<string, Given> } {
  const everyKey = [...new Set(Object.values(types).flatMap(({ keys }) => keys))];
  // Finds the type first, because the valid keys depend on it.
  const { value } = entry;
  const typeGiven =
    typeof value === 'object' && value?.kind === 'mapping'
      ? value.entries.find(({ key }) => key.value === 'type')?.value
      : undefined;
  const type = readValue(typeGiven, choiceParser(typeNames), problems);
  const rule = {
    keys: ['type', ...(type === undefined ? everyKey : types[type].keys)],
    expected: 'a sink such as { type: log }',
  };
  const keys = keysOf(entry, rule, problems);
  if (keys === undefined) return { type, keys: new Map(), settings: undefined };
  if (typeGiven === undefined) problems.report(entry, `found no type, expected type: ${oneOf(typeNames)}; write it`);
  if (type === undefined) return { type, keys, settings: undefined };
  const missing = types[type].required.filter((key) => !keys.has(key));
  for (const key of missing) {
    problems.report(
      entry,
      `found no ${key}, which ${type === 'agent' || type === 'email' ? 'an' : 'a'} ${type} sink needs; write it`,
    );
  }
  if (type === 'email') {
    const half = keys.has('user') !== keys.has('password');
    if (half) problems.report(entry, 'found only one of user and password, expected both or none; write the other one');
  }
  if (type === 'slack') reportSlackKeys(entry, keys, problems);
  const settings = types[type].read(keys, read);
  if (settings !== undefined)
    reportPlainTarget(type, keys, settings as Partial<SlackBotSettings & WebhookSettings>, problems);
  return { type, keys, settings: settings === undefined ? undefined : ({ type, ...settings } as SinkSettings) };
}

/** A slack sink has an incoming webhook, or a bot with a channel. */
function reportSlackKeys(entry: Given, keys: ReadonlyMap<string, Given>, problems: Problems): void {
  const botKeys = ['channel', 'apiUrl'].filter((key) => keys.has(key));
  if (keys.has('botToken')) {
    if (keys.has('url')) problems.report(entry, 'found url and botToken, expected one of them; remove the other one');
    if (!keys.has('channel')) problems.report(entry, 'found no channel, which botToken needs; write it');
  } else if (botKeys.length > 0) {
    problems.report(entry, `found ${botKeys.join(' and ')} without botToken, which they need; write it`);
  } else if (!keys.has('url')) {
    problems.report(entry, 'found no url, which a slack sink needs; write it, or botToken and channel');
  }
}

/** Reports addresses that a secret must not be sent to. */
function reportPlainTarget(
  type: SinkSettings['type'],
  keys: ReadonlyMap<string, Given>,
  { url, apiUrl, allowPrivateNetwork }: Partial<SlackBotSettings & WebhookSettings>,
  problems: Problems,
): void {
  const target = keys.get('url') ?? keys.get('apiUrl');
  if (target === undefined || allowPrivateNetwork === true) return;
  if (String(url ?? apiUrl).startsWith('http:')) {
    problems.report(
      target,
      'found http, which is not encrypted, expected https; allowPrivateNetwork: true permits http to private addresses',
    );
  } else if (apiUrl !== undefined && (type === 'slack' || type === 'pagerduty')) {
    const known = [apis[type].usual, ...apis[type].others];
    if (known.some((each) => new URL(each).hostname === new URL(apiUrl).hostname)) return;
    problems.report(target, `found an address of another host, expected ${oneOf(known)}`);
  }
}

function readTarget(keys: ReadonlyMap<string, Given>, read: ReadText): Partial<Pick<WebhookSettings, 'url'>> & Target {
  const url = read(keys.get('url'), parseTargetUrl);
  const allowPrivateNetwork = read(keys.get('allowPrivateNetwork'), parseBoolean) ?? false;
  return { ...(url === undefined ? {} : { url }), allowPrivateNetwork };
}

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

function readAddresses(given: Given | undefined, read: ReadText): readonly string[] | undefined {
  if (given === undefined) return undefined;
  if (typeof given.value !== 'object' || given.value?.kind !== 'list') {
    const only = read(given, parseAddress);
    return only === undefined ? undefined : [only];
  }
  const addresses = given.value.items.flatMap((item) => read(item, parseAddress) ?? []);
  if (given.value.items.length === 0) read(given, () => refuseEmpty());
  return addresses.length === given.value.items.length && addresses.length > 0 ? addresses : undefined;
}

function refuseEmpty(): never {
  throw new UsageError('found an empty list, expected addresses such as [finops@example.com]');
}

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
