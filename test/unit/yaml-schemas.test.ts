import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { parse as parseYamlText } from 'yaml';
import { parseAllocation } from '../../src/allocation/parse.ts';
import { parseAnomalyRules } from '../../src/anomalies/rules.ts';
import { UsageError } from '../../src/base/errors.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { parseConfig } from '../../src/config/config.ts';
import { alertSeverities, severityKinds } from '../../src/config/sink-settings.ts';
import { dataKinds } from '../../src/findings/kinds/index.ts';
import { parseJob } from '../../src/jobs/parse.ts';
import { parseView } from '../../src/serve/views.ts';
import { violations } from '../support/json-schema.ts';
import { newProject } from '../support/project.ts';
import { type Schema, yamlSchemas } from '../support/yaml-schemas.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const now = Date.UTC(2026, 10, 21);
const folder = await newProject();
await mkdir(join(folder, 'jobs'));
await writeFile(join(folder, 'jobs', 'owners.csv'), 'workspace,product\nnorth,search\n');
await writeFile(join(folder, 'jobs', 'finance.csv'), 'budget,period,amount\nfrom_table,2026-10,5\n');
await writeFile(join(folder, 'jobs', 'orders.csv'), 'date,count\n2026-10-01,5\n');

test('every kind of alert about the data has a severity that costbook.yaml can set', () => {
  expect(severityKinds.toSorted()).toEqual(dataKinds.map(({ name }) => name).sort());
});

type Name = keyof typeof yamlSchemas;

/** What reads each kind of file in the product; JSON is YAML. */
const readers: Readonly<Record<Name, (text: string) => unknown>> = {
  costbook: (text) => parseConfig({ text, file: 'costbook.yaml', env: {}, now, requireAccounts: false }),
  job: (text) =>
    parseJob({
      text,
      file: 'jobs/x.yaml',
      isBuiltIn: false,
      env: {},
      now,
      keepSecret: () => undefined,
      requirePing: false,
    }),
  budgets: (text) => [
    parseBudgets({ text, file: join(folder, 'jobs', 'budgets.yaml'), now }),
    parseAnomalyRules({ text, file: 'jobs/budgets.yaml' }),
  ],
  allocation: (text) => parseAllocation({ text, file: join(folder, 'jobs', 'allocation.yaml') }),
  view: (text) => parseView({ text, file: 'views/x.yaml' }),
};

const token = { token: 'abcdefgh' };
const hook = 'https://hooks.example.com/services/x';
/** Documents that together use every key. */
const documents: Readonly<Record<Name, readonly Record<string, unknown>[]>> = {
  costbook: [
    {
      ...{ url: 'https://api.example.com', account: 'acc_one', tokenFile: 'token', since: '2026-10' },
      engine: { command: ['spark-sql', '-f', '{file}'], lake: 's3://bucket/lake', env: ['AWS_PROFILE'] },
      currency: { code: 'EUR', rates: 'rates.csv', source: 'ECB' },
      ...{ concurrency: 4, maxRequestsPerMinute: 120, settleDays: 3, closeAfterDays: 3, lagHours: 2, freshness: '26h' },
      ...{
        verifyDays: 400,
        deepVerifyPages: 2,
        inventory: {
          workspaces: ['east'],
          tokens: {
            north: 'abcdefgh',
            south: { tokenFile: 'south' },
            west: { oauth: { tokenPath: '/v0/oauth/token', clientId: 'west', clientSecret: 'abcdefgh' } },
          },
          ...{ detailCalls: 100, people: false, ignoreLabels: ['*auto-generated'] },
        },
      },
      ...{
        apiVersion: '2026-04-16',
        authorizationHeader: 'Authorization',
        versionHeader: 'Service-Version',
        workspaceHeader: 'X-Workspace',
        threadHeader: 'X-Thread',
        headers: { 'X-Team': 'finops' },
        inferenceUrl: 'https://run.example.com',
        sandboxUrl: 'https://sbx-{sandbox}-{workspace}.{region}.example.com',
        fileMode: '0640',
      },
      ...{ proof: { tolerance: '0.01' }, landing: { keep: 'all', keepDays: 30, archive: 's3://finance/landing' } },
      exports: { to: 's3://finance/costs' },
      storage: {
        ...{ endpoint: 'https://s3.example.com', region: 'eu-central-1', pathStyle: true, timeout: '30s' },
        ...{ serverSideEncryption: 'aws:kms', kmsKeyId: 'alias/costs' },
      },
      closing: { invoiceDays: 10 },
      focus: { provider: 'Platform', accountName: 'Main' },
      serve: {
        ...{ hosts: ['costs.example.com'], userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups' },
        oidc: {
          ...{ issuer: 'https://login.example.com', clientId: 'costbook', clientSecret: 'a-client-secret' },
          ...{ scopes: ['openid', 'groups'], groupsClaim: 'roles' },
        },
        groups: { finance: { all: true }, research: { workspaces: ['research'] }, payments: { owner: 'Payments' } },
        tokens: {
          north: { token: 'abcdefghijabcdefghij', workspaces: ['north'] },
          payments: { token: 'klmnopqrstklmnopqrst', owner: 'Payments' },
        },
      },
      dashboardUrl: 'https://costs.example.com',
      alerts: {
        ...{ notify: ['finops', 'mail'], giveUpDays: 7, project: 'acme' },
        severity: Object.fromEntries(severityKinds.map((kind, at) => [kind, alertSeverities[at % 3]])),
      },
      subscriptions: {
        lead: {
          ...{ to: 'lead@example.com', every: 'close', sink: 'mail' },
          statement: { owner: 'Payments', by: 'team', format: 'html' },
        },
        finance: {
          to: ['a@example.com', 'b@example.com'],
          report: { name: 'focus', format: ['csv', 'xlsx'], param: { workspace: 'north' } },
        },
      },
      sinks: {
        finops: { type: 'slack', url: hook, allowPrivateNetwork: false },
        bot: { type: 'slack', botToken: 'xoxb-12345678', channel: 'C0123456789', apiUrl: 'https://slack.com/api' },
        pager: { type: 'webhook', url: hook, secret: 'sixteen-letters-or-more', allowPrivateNetwork: true },
        mail: {
          ...{
            type: 'email',
            host: 'smtp.example.com',
            port: 587,
            tls: 'implicit',
            user: 'me',
            password: 'secret-word',
          },
          ...{ from: 'a@example.com', to: ['b@example.com'], allowPrivateNetwork: true },
        },
        team: { type: 'teams', url: hook, allowPrivateNetwork: false },
        duty: {
          ...{ type: 'pagerduty', routingKey: 'a'.repeat(32), allowPrivateNetwork: false },
          apiUrl: 'https://events.eu.pagerduty.com/v2/enqueue',
        },
        out: { type: 'log' },
        analyst: { type: 'agent', workspace: 'production', agent: 'a', answersTo: ['mail'], timeLimitSeconds: 60 },
        reaction: { type: 'job', workspace: 'production', job: 'j', timeLimitSeconds: 60 },
        opening: { type: 'model', workspace: 'production', model: 'm', answersTo: ['mail'], timeLimitSeconds: 30 },
      },
    },
    {
      ...{ url: 'https://api.example.com', ...token, inventory: false, since: '-90d' },
      calendar: ['2026-12-25', 'holidays.ics'],
      accounts: [
        {
          id: 'acc_a',
          name: 'A',
          url: 'https://a.example.com',
          tokenCommand: 'pass show a',
          since: '2026-10-01',
          inventory: true,
        },
        { id: 'acc_b', token: 'abcdefgh' },
        { id: 'acc_c', tokenFile: 'c' },
      ],
    },
    { tokenCommand: 'pass show' },
  ],
  job: [
    {
      ...{ schedule: '15 2 * * *', timeZone: 'Europe/Berlin', timeout: '6h', catchUp: 'skip', enabled: true },
      ping: { start: hook, success: hook, fail: hook, allowPrivateNetwork: false },
      steps: [
        'ingest',
        { ingest: { from: '-1d', to: '2026-11-21', refetch: true } },
        'check',
        { check: { changed: true } },
        { close: { month: 'last' } },
        {
          report: {
            ...{ allowFiles: ['/srv/files'], timeout: '10m', engine: 'spark' },
            ...{
              name: 'focus',
              month: '2026-10',
              from: '2026-10-01',
              to: '2026-10-02',
              param: { workspace: 'north', n: 5 },
            },
            ...{ format: ['csv', 'parquet'], out: 'there', raw: true, parquetDecimals: 'double', focusVersion: '1.4' },
            ...{ withDeprecatedColumns: true, requireComplete: true, grain: 'daily' },
            ...{ excel: true, totals: true, by: 'team', labels: 'team,env', allowEmpty: false },
          },
        },
        { statement: { month: '2026-09', owner: 'Payments', by: 'team', format: ['html', 'xlsx'], out: 'there' } },
        { statement: { each: 'owner', requireComplete: true } },
        { summarize: { period: 'weekly', sink: ['finops'] } },
        'summarize',
        'alert',
      ],
    },
  ],
  view: [
    { title: 'Ours', page: '/explore', parameters: { workspace: ['north', 'south'], top: 5, range: '30d' } },
    { title: 'All' },
  ],
  budgets: [
    {
      table: 'finance.csv',
      changes: [{ name: 'launch', on: '2026-12-10', effect: '+30%', scope: { workspace: 'a' } }],
      fiscalYear: { start: 'april', named: 'end', weeks: '4-4-5', weekday: 'sunday', weekStart: 'nearest' },
      anomalies: {
        enabled: true,
        minAmount: '5 USD',
        minPercent: '30%',
        minDays: 14,
        hourlyTimes: 50,
        notify: ['finops'],
        exclude: [{ scope: { workspace: 'a' }, until: '2026-12-31', reason: 'tests' }],
      },
      budgets: [
        {
          ...{
            name: 'all',
            period: 'monthly',
            timeZone: 'Europe/Berlin',
            amount: '500 USD',
            limits: { '2026-12': '600 USD' },
          },
          thresholds: [
            { at: '80%', severity: 'info', notify: ['finops'] },
            { at: '400 USD', of: 'forecast', run: ['./stop.sh', 'sandboxes'], timeLimitSeconds: 30 },
          ],
          notify: 'finops',
        },
        {
          ...{ name: 'part', parent: 'all', period: 'monthly', timeZone: 'Europe/Berlin', amount: '5 USD' },
          scope: {
            ...{ account: 'a', workspace: ['b'], resource_type: 'c', resource_name: 'd*', billing_dimension: 'e' },
            owner: { team: ['search'] },
          },
        },
        { name: 'usage', period: 'monthly', amount: '5 GB-seconds', thresholds: ['80%', '4 GB-seconds'] },
        { name: 'orders', period: 'monthly', amount: '0.05 USD', per: { name: 'order', counts: 'orders.csv' } },
        { name: 'labels', period: 'yearly', amount: '5 USD', scope: { label: { tier: 'gold' } } },
        {
          name: 'growing',
          period: 'fiscal_month',
          amount: '5 USD',
          growth: '5% monthly',
          from: 'FY2027-P01',
          rollover: { cap: '20%' },
        },
        {
          ...{ name: 'shared', period: 'monthly', limits: ['5 USD', '6 USD'], from: '2026-10', rollover: true },
          parts: [
            { name: 'one', scope: { workspace: 'a' } },
            { name: 'two', scope: { workspace: 'b' } },
          ],
        },
      ],
    },
  ],
  allocation: [
    {
      dimensions: ['team', 'product'],
      aliases: { team: { checkout: ['chekout'] } },
      rules: [
        {
          ...{
            name: 'shared',
            from: '2026-01',
            until: '2026-10',
            split: { by: 'usage', over: ['team'], billing_dimension: 'x' },
          },
          when: {
            ...{ account: 'a', workspace: ['b', null], resource_type: 'c', resource_name: 'd*', resource_uuid: 'e' },
            ...{ billing_dimension: 'f', external_id: 'g', display_name: 'h', region: 'i', label: { app: 'x' } },
            ...{ created_by: 'k', provider: 'l', workspace_label: { stage: 'live' } },
          },
        },
        { name: 'weights', when: { region: 'j' }, split: { by: 'weights', weights: [{ team: 'a', weight: 2 }] } },
        { name: 'even', when: { region: 'k' }, split: { by: 'evenly' } },
        { name: 'label', owner: { team: { label: 'team' }, product: { label: 'app', otherwise: 'other' } } },
        { name: 'table', when: { region: 'l' }, table: 'owners.csv' },
      ],
      default: { team: 'platform' },
    },
  ],
};

const refusals = new Map<string, boolean>();

/** Whether the reader refuses a document; each is read once, though several tests change the same documents. */
function isRefused(name: Name, document: unknown): boolean {
  const text = JSON.stringify(document);
  const known = refusals.get(name + text);
  if (known !== undefined) return known;
  let isRefused = false;
  try {
    readers[name](text);
  } catch (error) {
    // Anything else is a bug in the reader.
    if (!(error instanceof UsageError)) throw error;
    isRefused = true;
  }
  refusals.set(name + text, isRefused);
  return isRefused;
}

type Path = readonly (string | number)[];

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  yield path;
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* pathsIn(item, [...path, index]);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* pathsIn(item, [...path, key]);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
function changed(document: unknown, path: Path, change: (parent: any, key: string | number) => void): unknown {
  const copy = structuredClone({ root: document });
  // biome-ignore lint/suspicious/noExplicitAny: a document of any shape
  let parent: any = copy;
  let key: string | number = 'root';
  for (const next of path) {
    parent = parent[key];
    key = next;
  }
  change(parent, key);
  return copy.root;
}

const seed = inject('seed');
/** Each run takes a third of them in each place; `npm run test:random` takes others each time. */
const strangers: readonly unknown[] = [
  'nonsense-nobody-means',
  -7,
  1.5,
  true,
  null,
  [],
  {},
  [[]],
  { key_of_nobody: 1 },
  [''],
];

describe.each(Object.keys(yamlSchemas) as Name[])('the schema of %s', (name) => {
  const file = join(root, 'docs', 'schema', `${name}.schema.json`);
  const schema: Schema = yamlSchemas[name];

  test('is current; `npm run docs` writes it', () => {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (process.env['UPDATE_README']) writeFileSync(file, text);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('accepts what the reader accepts, and all of its keys occur in a tested document', () => {
    for (const document of documents[name]) {
      readers[name](JSON.stringify(document));
      expect(violations(schema, document)).toEqual([]);
    }
    const used = new Set(documents[name].flatMap((document) => [...pathsIn(document)].map((path) => path.at(-1))));
    const keys = [...JSON.stringify(schema).matchAll(/"properties":\{/g)].length;
    expect(keys).toBeGreaterThan(0);
    expect(keysOf(schema).filter((key) => !used.has(key))).toEqual([]);
  });

  test('refuses unknown keys in every place, as the reader does', () => {
    const differing = documents[name].flatMap((document) =>
      [...pathsIn(document)].flatMap((path) => {
        const mutant = changed(document, path, (parent, key) => {
          const value = parent[key];
          if (typeof value === 'object' && value !== null && !Array.isArray(value)) value['key_of_nobody'] = 'x';
        });
        const [byReader, bySchema] = [isRefused(name, mutant), violations(schema, mutant).length > 0];
        return byReader === bySchema || isFree(name, path)
          ? []
          : [`${path.join('/')}: reader ${byReader}, schema ${bySchema}`];
      }),
    );
    expect(differing).toEqual([]);
  });

  test('accepts every document that the reader accepts, with any key left out or any value replaced', () => {
    let refused = 0;
    const differing = documents[name].flatMap((document) =>
      [...pathsIn(document)].flatMap((path, place) =>
        [undefined, ...strangers.filter((_, index) => (index + place + seed) % 3 === 0)].flatMap((stranger) => {
          const mutant = changed(document, path, (parent, key) => {
            if (stranger === undefined && Array.isArray(parent)) parent.splice(Number(key), 1);
            else if (stranger === undefined) delete parent[key];
            else parent[key] = stranger;
          });
          // A file without anything in it is as good as none.
          if (mutant === undefined || mutant === null) return [];
          const faults = violations(schema, mutant); // quicker than the reader
          if (faults.length > 0 && isRefused(name, mutant)) {
            refused += 1;
            return [];
          }
          return faults.map((fault) => `${path.join('/')} = ${JSON.stringify(stranger)}: ${fault}`);
        }),
      ),
    );
    expect(refused).toBeGreaterThan(20);
    expect(differing).toEqual([]);
  });

  test('refuses what the reader refuses: wrong kinds, wrong choices, missing keys', () => {
    const differing = documents[name].flatMap((document) =>
      [...pathsIn(document)].flatMap((path) =>
        [undefined, [[]], { key_of_nobody: 1 }, 'nonsense-nobody-means'].flatMap((stranger) => {
          const parentPath = path.slice(0, -1);
          const mutant = changed(document, path, (parent, key) => {
            if (stranger === undefined && Array.isArray(parent)) return;
            if (stranger === undefined) delete parent[key];
            else parent[key] = stranger;
          });
          if (mutant === undefined || violations(schema, mutant).length > 0 || !isRefused(name, mutant)) return [];
          return [`${[...parentPath, path.at(-1)].join('/')} = ${JSON.stringify(stranger)}`];
        }),
      ),
    );
    // What a schema cannot say: names that must be others' names, texts of a form of their own.
    expect(differing.filter((one) => !beyond[name].some((pattern) => pattern.test(one)))).toEqual([]);
  });
});

/** Mappings whose keys are names of the user's own. */
function isFree(name: Name, path: Path): boolean {
  const at = path.join('/');
  if (name === 'view') return at === 'parameters';
  return name === 'allocation' && /^(default|rules\/\d+\/owner|rules\/\d+\/split\/weights\/\d+)$/.test(at);
}

/** What only the reader knows: forms of texts, names that must be those of others, what one value asks of another. */
const beyond: Readonly<Record<Name, readonly RegExp[]>> = {
  costbook: [
    /(^|\/)(url|apiUrl|endpoint|issuer|botToken|dashboardUrl|inferenceUrl|sandboxUrl|since|apiVersion|tolerance|from|to(\/\d)?) = "nonsense/,
    /^alerts\/notify(\/\d)? = "nonsense/,
    /^sinks(\/\w+)? = undefined$/, // alerts.notify names them
    /^inferenceUrl = undefined$/, // agents and models need it
    /^engine\/command\/\d = "nonsense/, // one of its words has {file}
    /^serve\/groups\/\w+\/\w+ = undefined$/, // a group sees exactly one of them
    /^subscriptions\/\w+\/(sink = "nonsense|(statement|report) = undefined)/, // exactly one of them, and a sink that is there
    /^sinks\/\w+\/(account|answersTo(\/\d)?) = "nonsense/,
  ],
  view: [],
  job: [/report\/timeout = /, /^(timeZone|ping\/\w+|steps\/1\/ingest\/(from|to)) = "nonsense/],
  budgets: [
    /(name|parent|timeZone|from) = "nonsense/,
    /timeZone = undefined/, // a child has its parent's periods
    /^fiscalYear = undefined$/, // a budget has a fiscal period
    /\/(amount|limits) = undefined$/, // the table may have it
    /\/from = undefined$/, // rollover: false needs none
    /parts\/\d\/scope\/workspace = undefined$/, // parts differ in a key
  ],
  allocation: [/(from|until|over\/0|weight) = "nonsense/, /split\/(billing_dimension|weights) = undefined/], // as by says
};

/** Every key that the schema names. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = (schema as { properties?: object }).properties;
  return [...(own === undefined ? [] : Object.keys(own)), ...Object.values(schema).flatMap(keysOf)];
}

describe('files that come with Costbook', () => {
  const files: readonly (readonly [string, Name])[] = [
    ['costbook.example.yaml', 'costbook'],
    ['budgets.example.yaml', 'budgets'],
    ['allocation.example.yaml', 'allocation'],
    ['jobs/demo/budgets.yaml', 'budgets'],
    ['jobs/demo/allocation.yaml', 'allocation'],
    ...readdirSync(join(root, 'jobs'))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => [`jobs/${file}`, 'job'] as const),
  ];

  test.each(files)('%s matches its schema and names it', (file, name) => {
    const text = readFileSync(join(root, file), 'utf8');
    expect(violations(yamlSchemas[name], parseYamlText(text))).toEqual([]);
    const named = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1] ?? '';
    expect(join(file, '..', named)).toBe(`docs/schema/${name}.schema.json`);
  });
});
