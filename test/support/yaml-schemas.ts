import { fields } from '../../src/allocation/definition.ts';
import { allocationShape } from '../../src/allocation/parse.ts';
import { anomalyKeys } from '../../src/anomalies/rules.ts';
import { severities } from '../../src/base/severity.ts';
import { thresholdSubjects } from '../../src/budgets/rules/budget.ts';
import { budgetFileKeys } from '../../src/budgets/rules/file-keys.ts';
import { usageUnits } from '../../src/budgets/rules/usage-unit.ts';
import { currencyShape } from '../../src/config/currency-settings.ts';
import { engineShape } from '../../src/config/engine-settings.ts';
import { entryKeys, groups, tokenKeys, topKeys } from '../../src/config/keys.ts';
import { serveShapes } from '../../src/config/serve-settings.ts';
import { alertSeverities, severityKinds } from '../../src/config/sink-settings.ts';
import { subscriptionsShape } from '../../src/config/subscription-settings.ts';
import { jobShape, stepShape } from '../../src/jobs/parse.ts';
import { viewShape } from '../../src/serve/views.ts';
import { sinkTypes } from '../../src/sinks/kinds/index.ts';
import { monthNames, weekdayNames, weekPatterns, weekStarts, yearNames } from '../../src/time/fiscal-year.ts';
import { periodKinds } from '../../src/time/time.ts';
import { type Shape, z } from '../../src/yaml/shape.ts';

// The descriptions that editors show for YAML files, in docs/schema. Keys and choices are those that the readers in src
// know: one that is not described here, or described and not known there, throws. A test mutates documents and looks
// whether schema and reader say the same of them.

export type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  minLength: 1,
  description,
  ...more,
});
const flag = (description: string): Schema => ({ type: 'boolean', description });
const choice = (choices: readonly string[], description: string): Schema => ({ enum: choices, description });
const duration = (description: string, units = 'smhd'): Schema =>
  text(description, { pattern: `^[0-9]{1,5}[${units}]$` });
const listOf = (items: Schema, description: string): Schema => ({ type: 'array', minItems: 1, items, description });
const oneOrMore = (items: Schema, description: string): Schema => ({
  anyOf: [items, { type: 'array', minItems: 1, items }],
  description,
});
const named = (values: Schema, description: string): Schema => ({
  type: 'object',
  additionalProperties: values,
  description,
});

const storePlace = (description: string): Schema =>
  text(description, { pattern: '^(s3://[^/]+(/.*)?|.*\\$\\{.*\\}.*)$' });

/** A whole number as the configuration takes it: also as the text that a reference gives. */
const count = (description: string, minimum: number, maximum?: number): Schema => ({
  anyOf: [
    { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) },
    { type: 'string', pattern: '^([0-9]{1,16}|.*\\$\\{.*\\}.*)$' },
  ],
  description,
});

/** A mapping of exactly these keys, each with a description. */
function mapping(
  keys: readonly string[],
  described: Readonly<Record<string, Schema>>,
  { description, required = [], ...more }: { description?: string; required?: readonly string[] } & Schema = {},
): Schema {
  const missing = keys.filter((key) => !Object.hasOwn(described, key));
  const unknown = Object.keys(described).filter((key) => !keys.includes(key));
  if (missing.length + unknown.length > 0) {
    throw new Error(
      `described and known keys differ: ${missing.join(', ')} not described, ${unknown.join(', ')} not known`,
    );
  }
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(keys.map((key) => [key, described[key]])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...more,
  };
}

function titled(title: string, schema: Schema): Schema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema };
}

/** In a shape, a key that stands for all that a user may choose. */
const anyName = 'any name';

/** The JSON schema of a shape, and what editors say of its keys: by name, or by the names of the keys above it too. */
function schemaOf(shape: Shape, words: Readonly<Record<string, string>>, unused = new Set<string>()): Schema {
  function describe(node: unknown, path: readonly string[]): unknown {
    if (Array.isArray(node)) return node.map((one) => describe(one, path));
    if (typeof node !== 'object' || node === null) return node;
    const isFree = Object.hasOwn((node as Schema)['properties'] ?? {}, anyName);
    const entries = Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
      if (key === 'propertyNames' || (key === 'additionalProperties' && isFree)) return [];
      if (key === 'enum' && Array.isArray(value) && value.includes(anyName)) return [['type', 'string']];
      if (key !== 'properties') return [[key, describe(value, path)]];
      const properties = Object.entries(value as object).map(([name, own]) => {
        const at = [...path, name];
        const word = at.map((_, index) => at.slice(index).join('.')).find((candidate) => candidate in words);
        unused.delete(word ?? '');
        const described = describe(own, at) as Schema;
        const isNamed =
          word !== undefined || name === anyName || 'description' in described || 'properties' in described;
        if (!isNamed) throw new Error(`${at.join('.')} is not described`);
        return [name, word === undefined ? described : { ...described, description: words[word] }];
      });
      const { [anyName]: ofAny, ...known } = Object.fromEntries(properties);
      return [['properties', known], ...(isFree ? [['additionalProperties', ofAny] as [string, unknown]] : [])];
    });
    return Object.fromEntries(entries);
  }
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return describe(schema, []) as Schema;
}

function written(title: string, shape: Shape, words: Readonly<Record<string, string>>): Schema {
  const unused = new Set(Object.keys(words));
  const schema = schemaOf(shape, words, unused);
  if (unused.size > 0) throw new Error(`described, but not known: ${[...unused].join(', ')}`);
  return titled(title, schema);
}

function jobSchema(): Schema {
  const address = 'an address, https unless allowPrivateNetwork; $' + '{NAME} is replaced by the environment variable';
  const step = stepShape({ now: 0 });
  return written('A job of Costbook: jobs/<name>.yaml', jobShape(step, { env: {}, requirePing: false }), {
    schedule: 'minute, hour, day of the month, month, weekday, such as "15 2 * * *"',
    timeZone: 'the time zone of the schedule: UTC, or a name such as Europe/Berlin',
    steps: 'the steps, in order',
    timeout: 'the time limit of a run: 90s, 50m or 6h; no limit by default',
    catchUp:
      'what to do about missed runs: once starts one run that catches up, skip waits for the next scheduled time',
    enabled: 'whether costbook schedule runs this job',
    ping: 'addresses to call at the start and end of every run',
    start: `called when a run starts: ${address}`,
    success: `called when a run succeeds: ${address}`,
    fail: `called when a run fails: ${address}`,
    allowPrivateNetwork: 'whether the addresses may be in a private network, and use http there',
  });
}

function budgetsSchema(): Schema {
  const usd = text('an amount above 0 such as 5000 USD', { pattern: '^[0-9]{1,15}(\\.[0-9]{1,12})? USD$' });
  const units = ['USD', ...usageUnits].join('|');
  const amount = text('an amount above 0 such as 5000 USD or 2000000 GB-seconds', {
    pattern: `^[0-9]{1,15}(\\.[0-9]{1,12})? (${units})$`,
  });
  const names = (description: string) => oneOrMore(text('a name'), description);
  const byName = (description: string) => ({ ...named(names('one or more values'), description), minProperties: 1 });
  const sinks = names('names of sinks in costbook.yaml');
  const scope = mapping(
    budgetFileKeys.scope,
    {
      account: names('accounts'),
      workspace: names('workspaces'),
      resource_type: names('resource types'),
      resource_name: names('resource names; * matches any characters'),
      billing_dimension: names('billing dimensions'),
      owner: byName('owners, by dimension of the allocation'),
      label: byName('labels of the resource'),
    },
    {
      description: 'the costs that count towards the budget; a cost must match every key',
      not: { required: ['owner', 'label'] },
    },
  );
  const share = text('a share of the amount, or an amount in its unit: 80% or 4500 USD', {
    pattern: `^([0-9]{1,4}(\\.[0-9]{1,4})?%|[0-9]{1,15}(\\.[0-9]{1,12})? (${units}))$`,
  });
  const threshold = mapping(
    budgetFileKeys.threshold,
    {
      at: share,
      of: choice(thresholdSubjects, 'what reaches the threshold: the spend or the forecast; spent by default'),
      severity: choice(
        severities,
        'the severity of the alert; by default critical from 100 % of spend on, otherwise warning',
      ),
      notify: sinks,
      run: listOf(
        text('an argument', { maxLength: 1000 }),
        'a program and its arguments, run once when the threshold is crossed',
      ),
      timeLimitSeconds: count('seconds that run may take; 60 by default', 1, 900),
    },
    { required: ['at'], dependentRequired: { timeLimitSeconds: ['run'] } },
  );
  const budget = mapping(
    budgetFileKeys.budget,
    {
      name: text('letters, digits and . _ -', { maxLength: 100 }),
      scope,
      period: choice(periodKinds, 'weeks start on Monday'),
      timeZone: text('the time zone in which periods start; UTC by default'),
      parts: listOf(
        mapping(
          budgetFileKeys.part,
          { name: text('letters, digits and . _ -', { maxLength: 100 }), scope },
          { required: ['name', 'scope'] },
        ),
        'parts that share the amount; the answer shows the spend of each',
      ),
      amount,
      per: mapping(
        budgetFileKeys.per,
        {
          name: text('what is counted, such as order', { maxLength: 50 }),
          counts: text('a CSV file next to this file: date, count', { pattern: '^[A-Za-z0-9_.-]+\\.csv$' }),
        },
        {
          description: 'what the costs are divided by: the amount is USD for one of them',
          required: ['name', 'counts'],
        },
      ),
      from: {
        type: ['string', 'integer'],
        description: 'the first period of growth, rollover or a list of limits, such as 2026-10',
      },
      growth: text('how the amount grows after the period from, such as 5% monthly', {
        pattern: '^[+-]?[0-9]{1,3}(\\.[0-9]{1,4})?% (monthly|quarterly|yearly)$',
      }),
      rollover: {
        anyOf: [{ type: 'boolean' }, mapping(budgetFileKeys.rollover, { cap: share }, { required: ['cap'] })],
        description: 'whether a period gets what is unspent of the one before; with a cap, at most that',
      },
      limits: {
        anyOf: [
          named(amount, 'by period'),
          listOf(amount, 'of consecutive periods, starting with from; the last one stays'),
        ],
        description:
          'other amounts for single periods: 2026-12-24, 2026-W52, 2026-12, 2026-Q4, 2026; or, without amount, a list',
      },
      parent: text('the budget that includes this one'),
      thresholds: listOf(
        { anyOf: [share, threshold] },
        'levels of spend or forecast that raise an alert; by default 100% spent (critical) and 100% forecast (warning)',
      ),
      notify: sinks,
    },
    {
      required: ['name', 'period'],
      not: {
        required: ['limits'],
        properties: { limits: { type: 'array' } },
        anyOf: [{ required: ['amount'] }, { required: ['growth'] }],
      },
    },
  );
  return titled(
    'Budgets of Costbook: jobs/budgets.yaml',
    mapping(budgetFileKeys.top, {
      budgets: listOf(budget, 'the budgets'),
      changes: listOf(
        mapping(
          budgetFileKeys.change,
          {
            name: text('letters, digits and . _ -', { maxLength: 100 }),
            on: text('its first day in UTC, such as 2026-12-10', { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
            effect: text('what it adds: +30%, -100%, +500 USD (once) or +20 USD daily', {
              pattern: '^[+-][0-9]{1,12}(\\.[0-9]{1,12})?(%| USD( daily)?)$',
            }),
            scope,
          },
          { required: ['name', 'on', 'effect'] },
        ),
        'planned changes, which forecasts add',
      ),
      fiscalYear: mapping(
        budgetFileKeys.fiscalYear,
        {
          start: choice(monthNames, 'the first month'),
          named: choice(
            yearNames,
            'the calendar year that names it: the one in which it starts or ends; end by default',
          ),
          weeks: choice(weekPatterns, 'the weeks of the three months of a quarter; calendar months by default'),
          weekday: choice(weekdayNames, 'with weeks: the first day of a week; sunday by default'),
          weekStart: choice(
            weekStarts,
            'with weeks: whether the weekday nearest to the first of the month starts the year, or the last one up to it',
          ),
        },
        {
          description: 'the fiscal year of budgets with a fiscal period',
          required: ['start'],
          dependentRequired: { weekday: ['weeks'], weekStart: ['weeks'] },
        },
      ),
      table: text('a CSV file of amounts next to this file: budget, period, amount', {
        pattern: '^[A-Za-z0-9_.-]+\\.csv$',
      }),
      anomalies: mapping(
        anomalyKeys,
        {
          enabled: flag('whether alerts about anomalies are sent; true by default'),
          minAmount: {
            ...usd,
            description: 'smallest difference between a day and its expected cost; 5 USD by default',
          },
          minPercent: text('smallest difference as a share of the expected cost, from 5% to 1000%; 30% by default', {
            pattern: '^[0-9]{1,4}(\\.[0-9]{1,4})?%$',
          }),
          minDays: count('days of history that are needed before a cost is evaluated; 14 by default', 14, 42),
          hourlyTimes: {
            anyOf: [{ type: 'integer', minimum: 5, maximum: 1000 }, { const: false }],
            description:
              'newest hours that cost this many times the usual are reported before their day is complete; 20 by default, false for none',
          },
          notify: sinks,
          exclude: listOf(
            mapping(
              budgetFileKeys.exclusion,
              {
                scope: { ...scope, description: 'the costs; a cost must match every key', minProperties: 1 },
                until: text('the last day on which it acts in UTC, such as 2026-12-31; without it, it has no end', {
                  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
                }),
                reason: text('why, as it is shown wherever the exclusion acts', { maxLength: 300 }),
              },
              { required: ['scope', 'reason'] },
            ),
            'costs whose anomalies raise no alert',
          ),
        },
        { description: 'which daily costs count as anomalies' },
      ),
    }),
  );
}

function allocationSchema(): Schema {
  const shape = allocationShape([anyName]);
  return written('Allocation rules of Costbook: jobs/allocation.yaml', shape, {
    dimensions: 'the dimensions of owners; team, product and environment by default',
    aliases: 'by label: values and their other spellings',
    rules: 'the rules; the first one that matches a cost decides',
    default: 'the owner of costs that match no rule',
    'rules.name': 'the name of the rule',
    'rules.when': 'the costs that match; a cost must match every key',
    'rules.table': 'a CSV file next to this file',
    'rules.from': 'valid from (inclusive): 2026-10-01, 2026-10 or 2026-10-01T06:00:00Z',
    'rules.until': 'valid until (exclusive): 2026-10-01, 2026-10 or 2026-10-01T06:00:00Z',
    'rules.owner': 'the owner in each dimension, as a name or from a label',
    'rules.split': 'divide the cost between owners',
    ...Object.fromEntries(fields.map((field) => [`when.${field}`, '* matches any characters, null means "has none"'])),
    'when.label': 'labels of the resource',
    'when.workspace_label': 'labels of its workspace',
    label: 'the key of a label',
    otherwise: 'the owner if the label is missing',
    by: 'how the cost is divided',
    over: 'the dimensions that distinguish owners; all by default',
    'split.billing_dimension': 'with by: usage, the billing dimension whose usage counts',
    weights: 'with by: weights, the owners and their weights',
    weight: 'at least 0, such as 2 or 0.5',
  });
}

const sinkWords: Readonly<Record<string, string>> = {
  type: 'what kind of sink it is',
  url: 'an address, which is a secret: $' + '{SLACK_WEBHOOK_URL}',
  secret: 'the key that signs messages',
  allowPrivateNetwork: 'whether the address may be in a private network',
  botToken: 'the token of a bot of a Slack app, as a reference to a variable; needs channel',
  channel: 'the id of a channel, such as C0123456789, or its name; needs botToken',
  apiUrl: "the address of Slack's or PagerDuty's API, if it is not the usual one",
  routingKey: 'the integration key of a PagerDuty service, as a reference to a variable',
  host: 'the name of the mail server',
  port: 'the port; 587 by default, 465 with tls: implicit',
  tls: 'how the connection is encrypted; starttls by default',
  user: 'the user name; needs password',
  password: 'the password, as a reference to a variable; needs user',
  from: 'the sender',
  to: 'the recipients',
  account: 'the account that the workspace belongs to; needed if there are several',
  workspace: 'the workspace of the agent, job or model',
  agent: 'the name of the agent',
  job: 'the name of the batch job',
  model: 'the name of the model',
  answersTo: 'the sinks that wait for the answer and show it',
  timeLimitSeconds: 'seconds that a call may take; 60 by default, 30 for a model',
};

const keysOfGroup = (name: string) => groups.find((group) => group.name === name)?.keys ?? [];

function configSchema(): Schema {
  const names = oneOrMore(text('a sink'), 'sinks, or one text with commas between their names');
  const token = {
    token: text('the bearer token; keep it out of this file: $' + '{PLATFORM_TOKEN}'),
    tokenFile: text('a file with the token'),
    tokenCommand: text('a command that prints the token'),
    oauth: {
      description: 'client credentials, which become a token for two hours',
      type: 'object',
      additionalProperties: false,
      required: ['clientId', 'clientSecret'],
      properties: {
        tokenPath: {
          ...text("the path below the platform's address; /v0/oauth/token by default"),
          pattern: '^(/|.*\\$\\{)',
        },
        clientId: text('the ID of the service account'),
        clientSecret: text('its secret; keep it out of this file: $' + '{CLIENT_SECRET}'),
      },
    },
  };
  const onlyOneToken = {
    not: {
      anyOf: tokenKeys.flatMap((one, index) => tokenKeys.slice(index + 1).map((other) => ({ required: [one, other] }))),
    },
  };
  const inventory = {
    description: 'whether to fetch listings of resources, of which workspaces, and with which tokens',
    anyOf: [
      { type: 'boolean' },
      { type: 'string', pattern: '^(true|false|.*\\$\\{.*\\}.*)$' },
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          workspaces: {
            description: 'the workspaces to list: all (default), or their names',
            anyOf: [{ const: 'all' }, { type: 'array', items: { type: 'string', minLength: 1 } }],
          },
          detailCalls: count('items of listings that are read one by one in a night; 200 by default', 0, 100_000),
          people: { type: 'boolean', description: 'whether names of people are read; true by default' },
          ignoreLabels: listOf(text('a pattern, such as *auto-generated'), 'keys of labels that are not stored'),
          tokens: {
            type: 'object',
            minProperties: 1,
            additionalProperties: {
              anyOf: [token.token, mapping(tokenKeys, token, { minProperties: 1, maxProperties: 1 })],
            },
          },
        },
      },
    ],
  };
  const url = text("the platform's address: http or https, without credentials, query or fragment");
  const shared = { url, ...token, since: text('the first hour to load: 2026-10-01, 2026-10 or -90d') };
  const sinks = Object.values(sinkTypes).map((type) => schemaOf(type.shape(), sinkWords));
  return titled(
    'The configuration of Costbook: costbook.yaml',
    mapping(
      topKeys,
      {
        accounts: listOf(
          mapping(
            entryKeys,
            {
              id: text('the account ID'),
              name: text('the name of the account, as in FOCUS exports'),
              inventory,
              ...shared,
            },
            onlyOneToken,
          ),
          'the accounts',
        ),
        account: text('the account ID, if there is only one account'),
        ...shared,
        concurrency: count('requests at the same time; 4 by default', 1, 32),
        maxRequestsPerMinute: count('the most requests to start per minute; no limit by default', 1),
        settleDays: count('days after which hours are no longer expected to change; 3 by default', 0, 90),
        closeAfterDays: count('days to wait after the end of a month before it can be closed; 3 by default', 0, 90),
        lagHours: count(
          'hours by which the platform lags behind the clock; younger hours are not complete; 2 by default',
          0,
          72,
        ),
        freshness: {
          description: 'how old the complete-through instant may be before the books are out of date; 26h by default',
          type: 'string',
          pattern: '^([0-9]{1,5}[smhd]|.*\\$\\{.*\\}.*)$',
        },
        verifyDays: count('days of the past that every ingest compares with the platform; 400 by default', 0, 36_500),
        deepVerifyPages: count('pages of series totals that every ingest compares with the platform; 2 by default', 0),
        inventory,
        calendar: listOf(
          text('a date such as 2026-12-25, or an .ics file', {
            pattern: '^([0-9]{4}-[0-9]{2}-[0-9]{2}|.+\\.[iI][cC][sS])$',
          }),
          'days that may cost more or less than others, such as holidays',
        ),
        apiVersion: text("the platform's API version, such as 2026-04-16"),
        authorizationHeader: text('the HTTP header with the token'),
        versionHeader: text('the HTTP header with the API version'),
        workspaceHeader: text('the HTTP header with the workspace, for platforms that require one'),
        threadHeader: text("the HTTP header with the thread of an agent's request"),
        headers: {
          type: 'object',
          additionalProperties: text('the value of a header'),
          description: 'more headers for every request to the platform, by name',
        },
        inferenceUrl: text('root of the inference host'),
        sandboxUrl: text("a sandbox's own host, with {sandbox}, {workspace} and {region}"),
        fileMode: {
          type: ['number', 'string'],
          enum: [600, 640, 660, 604, 606, 644, 646, 664, 666, '0600', '0640', '0660', '0644', '0664', '0666'],
          description: 'the mode of new files, such as 0640; 0600 by default; folders also get x for each r',
        },
        proof: mapping(keysOfGroup('proof'), {
          tolerance: {
            type: ['number', 'string'],
            description: "the largest allowed difference in USD; by default from the platform's rounding",
          },
        }),
        landing: mapping(keysOfGroup('landing'), {
          keep: text('which responses of the platform to store: those of loads that changed something, or all', {
            pattern: '^(changed|all|.*\\$\\{.*\\}.*)$',
          }),
          keepDays: count('days after which stored responses are deleted; never by default', 1, 36_500),
          archive: storePlace('where copies of stored responses go: s3://bucket/prefix'),
        }),
        closing: mapping(keysOfGroup('closing'), {
          invoiceDays: count('days after the end of a closed month in which its invoice comes', 0, 366),
        }),
        exports: mapping(keysOfGroup('exports'), {
          to: storePlace('where copies of all exports go: s3://bucket/prefix'),
        }),
        storage: mapping(keysOfGroup('storage'), {
          endpoint: text('the address of an S3-compatible store; AWS by default'),
          region: text('the region; AWS_REGION or that of the profile by default'),
          pathStyle: flag('whether the bucket is in the path; by default only with an endpoint'),
          serverSideEncryption: text('how the store encrypts; its own default if not set', {
            pattern: '^(AES256|aws:kms|.*\\$\\{.*\\}.*)$',
          }),
          kmsKeyId: text('the key for aws:kms'),
          timeout: duration('how long a request may take without progress; 30s by default'),
        }),
        focus: mapping(keysOfGroup('focus'), {
          provider: text("the provider's name"),
          accountName: text('the name of the only account'),
        }),
        alerts: mapping(keysOfGroup('alerts'), {
          notify: { ...names, description: 'sinks that get messages by default; all if not set' },
          giveUpDays: count('days after which an undelivered message is given up; 7 by default', 1, 365),
          project: text("the project's name in messages; the folder's name by default"),
          severity: mapping(
            severityKinds,
            Object.fromEntries(
              severityKinds.map((kind) => [kind, choice(alertSeverities, 'the severity of alerts of this kind')]),
            ),
          ),
        }),
        serve: mapping(keysOfGroup('serve'), {
          hosts: { ...schemaOf(serveShapes.hosts, {}), description: 'names under which the dashboard may be reached' },
          userHeader: text('the HTTP header in which an authenticating proxy names the user'),
          groupsHeader: text("the HTTP header in which that proxy names the user's groups, with commas between them"),
          oidc: {
            ...schemaOf(serveShapes.oidc, {
              issuer: 'the address of the identity provider: https://login.example.com',
              clientId: 'the name of Costbook at the provider',
              clientSecret: 'the secret of Costbook there: $' + '{OIDC_SECRET}; none for a public client',
              scopes: 'what Costbook asks for; openid, profile and email by default',
              groupsClaim: 'the claim that names the groups of a person; groups by default',
            }),
            description: 'the identity provider at which people sign in, by OpenID Connect',
          },
          groups: {
            ...schemaOf(serveShapes.groups, {
              all: 'true: this group sees everything',
              workspaces: 'the only workspaces that this group sees',
              owner: 'the only owner that this group sees',
            }),
            description: 'what people see, by their groups; the first rule that names one decides',
          },
          tokens: {
            ...schemaOf(serveShapes.tokens, {
              token: 'the access token, which is a secret: $' + '{DASHBOARD_TOKEN}',
              workspaces: 'the only workspaces that this token shows',
              owner: 'the only owner that this token shows',
            }),
            description: 'who may open the dashboard, by name',
          },
        }),
        engine: schemaOf(engineShape, {
          command:
            'the program that runs statements on a cluster, and its arguments; {file} is the file with the statements',
          lake: 'the lake as the cluster reaches it: a folder or an address; exports/lake by default',
          env: 'variables that the command gets besides PATH, HOME, JAVA_…, SPARK_… and HADOOP_…',
        }),
        currency: schemaOf(currencyShape, {
          code: 'the currency, such as EUR',
          rates: 'the CSV file with the columns date and rate: how much of the currency one USD is, from that day on',
          source: 'who publishes the rates, as reports name it',
        }),
        dashboardUrl: text('where people open the dashboard; messages link to it'),
        subscriptions: {
          ...schemaOf(subscriptionsShape, {
            to: 'who gets the mail',
            every: 'how often: for each day, week or month that is complete, or for each close; month by default',
            sink: 'the sink of type email whose server and sender it uses; needed if there are several',
            report: 'the report whose files are sent',
            statement: 'the statement whose files are sent; {} for all costs',
            name: 'the name of the report; costbook report --list shows all',
            format: 'the formats of the files',
            param: 'parameters of the report',
            owner: 'only what this owner is charged',
            by: 'the dimension of owners; team by default',
          }),
          description: 'who gets which files by mail, by name',
        },
        sinks: {
          type: 'object',
          additionalProperties: { oneOf: sinks },
          description: 'where alerts are sent, by name',
        },
      },
      onlyOneToken,
    ),
  );
}

/** Every schema by the name of its file in docs/schema, without `.schema.json`. */
export const yamlSchemas: Readonly<Record<'costbook' | 'job' | 'budgets' | 'allocation' | 'view', Schema>> = {
  costbook: configSchema(),
  job: jobSchema(),
  budgets: budgetsSchema(),
  allocation: allocationSchema(),
  view: written('A named view of the dashboard of Costbook: views/<name>.yaml', viewShape, {
    title: 'the name in the menu, which everybody who sees the page reads',
    page: 'the page, /explore by default',
    parameters: 'the parameters of the page, as its address has them',
  }),
};
