import type { MappingRule } from '../yaml/index.ts';

export const tokenKeys = ['token', 'tokenFile', 'tokenCommand', 'oauth'] as const;
/** Keys whose values are mappings, which no variable can hold. */
export const keysWithoutVariable: readonly string[] = ['oauth'];
/** Keys of an account that may also be at the top level, for all accounts. */
export const sharedKeys = ['url', ...tokenKeys, 'since'] as const;
const plainSettings = [
  'concurrency',
  'maxRequestsPerMinute',
  'settleDays',
  'closeAfterDays',
  'lagHours',
  'freshness',
  'verifyDays',
  'deepVerifyPages',
  'inventory',
  'calendar',
  'apiVersion',
  'authorizationHeader',
  'versionHeader',
  'workspaceHeader',
  'threadHeader',
  'inferenceUrl',
  'sandboxUrl',
  'fileMode',
  'dashboardUrl',
] as const;
/** Settings in a nested mapping at the top level; elsewhere written as `landing.keep`. */
export const groups = [
  { name: 'proof', keys: ['tolerance'], expected: 'a key such as tolerance: 0.01; write one or remove it' },
  {
    name: 'landing',
    keys: ['keep', 'keepDays', 'archive'],
    expected: 'a key such as keep: all; write one or remove it',
  },
  { name: 'closing', keys: ['invoiceDays'], expected: 'a key such as invoiceDays: 10; write one or remove it' },
  { name: 'focus', keys: ['provider', 'accountName'], expected: 'a key such as provider: …; write one or remove it' },
  {
    name: 'alerts',
    keys: ['notify', 'giveUpDays', 'severity', 'project'],
    expected: 'a key such as notify: [finops]; write one or remove it',
  },
  {
    name: 'serve',
    keys: ['hosts', 'tokens', 'userHeader', 'groupsHeader', 'oidc', 'groups'],
    expected: 'a key such as hosts: [costs.example.com]; write one or remove it',
  },
  { name: 'exports', keys: ['to'], expected: 'a key such as to: s3://finance/costs; write one or remove it' },
  {
    name: 'storage',
    keys: ['endpoint', 'region', 'pathStyle', 'serverSideEncryption', 'kmsKeyId', 'timeout'],
    expected:
      'a key such as region: eu-central-1; write one or remove it. Credentials come from the AWS standard chain, never from this file',
  },
] as const;
const groupedSettings = [
  'proof.tolerance',
  'landing.keep',
  'landing.keepDays',
  'landing.archive',
  'closing.invoiceDays',
  'focus.provider',
  'focus.accountName',
  'alerts.notify',
  'alerts.giveUpDays',
  'alerts.severity',
  'alerts.project',
  'serve.userHeader',
  'serve.groupsHeader',
  'exports.to',
  'storage.endpoint',
  'storage.region',
  'storage.pathStyle',
  'storage.serverSideEncryption',
  'storage.kmsKeyId',
  'storage.timeout',
] as const;
export const settingKeys = [...plainSettings, ...groupedSettings];
export const topKeys = [
  'accounts',
  'account',
  ...sharedKeys,
  ...plainSettings,
  ...groups.map(({ name }) => name),
  ...['engine', 'currency', 'headers', 'sinks', 'subscriptions'],
];
export const entryKeys = ['id', 'name', 'inventory', ...sharedKeys];

export const topPlace = { keys: topKeys, place: 'the top level' };
export const entryPlace = { keys: entryKeys, place: 'an entry of accounts' };
export const groupPlaces: NonNullable<MappingRule['elsewhere']> = [
  ...groups.map(({ name, keys }) => ({ keys, place: name })),
  { keys: ['tokenPath', 'clientId', 'clientSecret'], place: 'oauth' },
  { keys: ['issuer', 'scopes', 'groupsClaim'], place: 'serve.oidc' },
  { keys: ['command', 'lake', 'env'], place: 'engine' },
  { keys: ['code', 'rates', 'source'], place: 'currency' },
];
export const topRule: MappingRule = {
  keys: topKeys,
  expected: 'keys, such as url: https://…',
  elsewhere: [entryPlace, ...groupPlaces],
};
export const entryRule: MappingRule = {
  keys: entryKeys,
  expected: 'an entry such as - id: …',
  elsewhere: [topPlace, ...groupPlaces],
};

/** The key that each environment variable sets: `tokenFile` by `COSTBOOK_TOKEN_FILE`. */
export const configVariables: ReadonlyMap<string, string> = new Map(
  ['account', ...sharedKeys, ...settingKeys]
    .filter((key) => !keysWithoutVariable.includes(key))
    .map((key) => [variableOf(key), key]),
);
/** Everything that has an environment variable: keys, and options of the command line. */
export const variableKeys = [...configVariables.values(), 'dir', 'now', 'json', 'logFormat'];

export function variableOf(key: string): string {
  return `COSTBOOK_${key
    .replace('.', '_')
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}`;
}
