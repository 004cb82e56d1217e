import type { MappingRule } from './yaml.ts';

export const tokenKeys = ['token', 'tokenFile', 'tokenCommand'] as const;
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
    keys: ['hosts', 'tokens', 'userHeader'],
    expected: 'a key such as hosts: [costs.example.com]; write one or remove it',
  },
  {
    name: 'engine',
    keys: ['command', 'lake', 'env'],
    expected: 'a key such as lake: exports/lake; write one or remove it',
  },
  {
    name: 'currency',
    keys: ['code', 'rates', 'source'],
    expected: 'keys such as code: EUR; write code, rates and source, or remove it',
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
  'exports.to',
  'storage.endpoint',
  'storage.region',
  'storage.pathStyle',
  'storage.serverSideEncryption',
  'storage.kmsKeyId',
  'storage.timeout',
] as const;
export const settingKeys = [...plainSettings, ...groupedSettings];
const topKeys = [
  'accounts',
  'account',
  ...sharedKeys,
  ...plainSettings,
  ...groups.map(({ name }) => name),
  'headers',
  'sinks',
];
const entryKeys = ['id', 'name', 'inventory', ...sharedKeys];

/** The keys of costbook.yaml by place; the schema is generated from them. */
export const configKeys = {
  top: topKeys,
  account: entryKeys,
  workspaceToken: tokenKeys,
  proof: groups[0].keys,
  landing: groups[1].keys,
  closing: groups[2].keys,
  focus: groups[3].keys,
  alerts: groups[4].keys,
  serve: groups[5].keys,
  engine: groups[6].keys,
  currency: groups[7].keys,
  exports: groups[8].keys,
  storage: groups[9].keys,
} as const;

export const topPlace = { keys: topKeys, place: 'the top level' };
export const entryPlace = { keys: entryKeys, place: 'an entry of accounts' };
export const groupPlaces = groups.map(({ name, keys }) => ({ keys, place: name }));
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
  ['account', ...sharedKeys, ...settingKeys].map((key) => [variableOf(key), key]),
);
/** Everything that has an environment variable: keys, and options of the command line. */
export const variableKeys = [...configVariables.values(), 'dir', 'now', 'json', 'logFormat'];

export function variableOf(key: string): string {
  return `COSTBOOK_${key
    .replace('.', '_')
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}`;
}
