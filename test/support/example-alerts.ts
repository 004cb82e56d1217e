import { messageEntry } from '../../src/alerts/message.ts';
import { factsOfFailures } from '../../src/base/failure.ts';
import { act } from '../../src/base/next-step.ts';
import { anomalyDays } from '../../src/charts/anomaly-days.ts';
import type { Picture } from '../../src/charts/picture.ts';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import type { AlertEntry } from '../../src/findings/transitions.ts';
import type { Origin, OutgoingMessage } from '../../src/sinks/message.ts';

const completeThrough = '2026-10-21T02:00:00Z';
const head = { account: 'acc_main', notify: [], state: 'raised', completeThrough } as const;

function driver(resourceType: string, resourceName: string, workspace: string | null, cost: string) {
  return { account: 'acc_main', workspace, resourceType, resourceName, cost };
}

/** A fact of every kind, with names that would mean something to Slack. */
export const exampleFacts: Readonly<Record<string, AlertFact>> = {
  budget: {
    key: 'budget/acc_main/research/2026-10/80%',
    kind: 'budget',
    account: 'acc_main',
    budget: 'research',
    period: '2026-10',
    periodStart: '2026-10-01T00:00:00Z',
    periodEnd: '2026-11-01T00:00:00Z',
    threshold: '80%',
    severity: 'warning',
    notify: ['finops'],
    state: 'raised',
    value: '4123.456789012345',
    limit: '4000.000000000000',
    amount: '5000.000000000000',
    completeThrough,
    gaps: [],
    drivers: [
      driver('sandbox', 'training-lab', 'research', '1203.330000000000'),
      driver('job', '<!channel> & "friends"', 'research', '12.000000000000'),
      driver('agent', 'tiny', null, '0.000003000000'),
    ],
    unusual: [
      {
        key: 'anomaly/acc_main/research/sandbox/sandbox_compute_runtime_gbs/2026-10-12',
        ...{ subject: 'training-lab', firstDay: '2026-10-12', lastDay: '2026-10-14', isOver: true },
        ...{ impact: '412.500000000000', daily: null },
      },
    ],
    end: { expected: '6012.000000000000', stopped: null, spentOn: '2026-10-26' },
  },
  stale: {
    ...head,
    key: 'stale/acc_main',
    kind: 'stale',
    severity: 'critical',
    freshnessHours: 30,
    ...{ usualDaily: '145.2', missingHours: 32 },
  },
  clock: {
    ...head,
    key: 'clock/acc_main',
    kind: 'clock',
    severity: 'warning',
    aheadSeconds: 2_678_400,
    platformAt: '2026-10-15T03:10:00Z',
    localAt: '2026-11-15T03:10:00Z',
  },
  account: {
    ...head,
    key: 'account/acc_main',
    kind: 'account',
    severity: 'info',
    ...{ endedAt: '2026-10-21T02:15:00Z', usualDaily: '145.2' },
  },
  unproven: {
    ...head,
    key: 'unproven/acc_main',
    kind: 'unproven',
    severity: 'critical',
    months: ['2026-10', '2025-11'],
    difference: '21.470000000000',
    count: 4,
    windows: [
      {
        start: '2026-10-14T00:00:00Z',
        end: '2026-10-21T00:00:00Z',
        reason: 'rows = the control: ours 12.5, theirs 13 & <more>',
        costDifference: '0.5',
        nights: 2,
        failingSince: '2026-10-20',
      },
    ],
    outOfDate: [
      {
        account: 'acc_main',
        completeThrough: '2026-10-19T02:00:00Z',
        missingHours: 48,
        usualDaily: '145.200000000000',
      },
    ],
  },
  silent: {
    ...head,
    key: 'silent/acc_main',
    kind: 'silent',
    severity: 'warning',
    times: [
      { start: '2026-10-20T19:00:00Z', end: completeThrough, usualCost: '30.250000000000' },
      { start: '2026-10-18T04:00:00Z', end: '2026-10-18T07:00:00Z', usualCost: '18.150000000000' },
    ],
    usualCost: '48.400000000000',
    owner: 'team Research',
  },
  check: {
    ...head,
    account: null,
    key: 'check/no_cost_without_team',
    kind: 'check',
    severity: 'warning',
    check: 'no_cost_without_team',
    about: 'Every cost has a team.',
    offenders: 17,
    error: null,
    errorCode: null,
  },
  run: {
    ...head,
    account: null,
    key: 'run/ingest',
    kind: 'run',
    severity: 'critical',
    command: 'ingest',
    runNumber: 12,
    outcome: 'failed',
    exitCode: 3,
    ...factsOfFailures([
      {
        code: 'unreachable',
        subject: 'api.example.com',
        found: 'no answer from api.example.com:443: connection refused (ECONNREFUSED)',
        next: act('fix this: "costbook doctor" checks the token and the address.'),
      },
    ]),
    endedAt: '2026-10-21T02:15:40Z',
    outOfDate: [],
  },
  disk: {
    ...head,
    account: null,
    key: 'disk/room',
    kind: 'disk',
    severity: 'warning',
    ...{ free: 62_914_560, needed: 214_748_364.8 },
    largest: [
      { path: 'exports', bytes: 73_400_320 },
      { path: 'data/landing', bytes: 31_457_280 },
    ],
  },
  books: {
    ...head,
    account: null,
    key: 'books',
    kind: 'books',
    severity: 'critical',
    command: 'run nightly',
    exitCode: 7,
    ...factsOfFailures([
      {
        code: 'damaged_file',
        subject: '/srv/costbook/data/warehouse.duckdb',
        found:
          '/srv/costbook/data/warehouse.duckdb is damaged (it is truncated: it has 3414016 bytes of at least 6828032): intact: ' +
          'the snapshot data/costbook.duckdb (load 12, journal event 96, 657775 rows, 56072.10 USD), data/journal',
        next: null,
      },
    ]),
    foundAt: '2026-10-21T02:15:40Z',
    isForRepair: true,
    snapshot: { rows: 657_775, cost: '56072.100000000000', publishedAt: '2026-10-20T02:16:00Z' },
    revision: 'whole snapshot',
  },
  listings: {
    ...head,
    key: 'listings/acc_main',
    kind: 'listings',
    severity: 'warning',
    listings: [
      {
        resourceType: 'agent',
        workspace: null,
        outcome: 'refused',
        reason: 'agents API answered 403: access_denied (account acc_main, agents, page 1).',
        step: act('ask an admin for a token.'),
        nextStep: 'Act (operator of Costbook): ask an admin for a token.',
      },
    ],
    neverListed: '3.120000000000',
  },
  closed_month: {
    ...head,
    key: 'closed_month/acc_main/2026-09',
    kind: 'closed_month',
    severity: 'warning',
    month: '2026-09',
    cost: '12.400000000000',
    corrections: 7,
    deliveredIn: ['2026-10'],
    billed: [{ month: '2026-10', cost: '12.400000000000' }],
    reopen: ['2026-09'],
    close: [{ month: '2026-09', invoices: [{ account: 'acc_main', invoiced: 'TOTAL' }] }],
    drivers: [driver('sandbox', 'box', null, '12.400000000000')],
    revision: '2026-10 12.400000000000',
  },
  invoice: {
    ...head,
    key: 'invoice/acc_main',
    kind: 'invoice',
    severity: 'info',
    month: '2026-09',
    billed: '5796.940000000000',
    reopen: ['2026-09'],
    close: [{ month: '2026-09', invoices: [], missing: 'acc_main' }],
    days: 10,
    revision: '2026-09',
  },
  unlisted: {
    ...head,
    key: 'unlisted/acc_main',
    kind: 'unlisted',
    severity: 'warning',
    workspaces: [
      { workspace: 'research', cost: '512.400000000000' },
      { workspace: 'demos', cost: '20.100000000000' },
    ],
    cost: '532.500000000000',
  },
  dimension: {
    ...head,
    key: 'dimension/acc_main/gpu_seconds',
    kind: 'dimension',
    severity: 'info',
    dimension: 'gpu_seconds',
    firstHour: '2026-10-20T07:00:00Z',
    cost: '3.210000000000',
  },
  interface: {
    ...head,
    key: 'interface/acc_main/resource_types/gpu_pool',
    kind: 'interface',
    severity: 'info',
    list: 'resource_types',
    name: 'gpu_pool',
    isMissing: false,
  },
  anomaly: {
    ...head,
    key: 'anomaly/acc_main/customer-demos/agent/agent_compute_runtime_gbs/2026-10-20',
    kind: 'anomaly',
    severity: 'warning',
    workspace: 'customer-demos',
    resourceType: 'agent',
    billingDimension: 'agent_compute_runtime_gbs',
    anomaly: 'spike',
    isUp: true,
    firstDay: '2026-10-20',
    lastDay: '2026-10-20',
    isOver: false,
    isRestated: false,
    isUsual: false,
    notice: 'first',
    lastNotice: null,
    dailyImpact: null,
    monthEnd: null,
    costSoFar: '88.930000000000',
    cost: '88.930000000000',
    expected: '5.470000000000',
    expectedLow: '2.120000000000',
    expectedHigh: '12.750000000000',
    impact: '83.460000000000',
    firstHour: '2026-10-20T07:00:00Z',
    moved: 'usage',
    priceEffect: '0.460000000000',
    volumeEffect: '83.000000000000',
    deployments: [
      {
        ...{ workspace: 'customer-demos', resourceType: 'agent', resourceName: 'demo-analyst' },
        ...{ after: '2026-10-20T04:02:00Z', by: '2026-10-20T04:02:00Z', revision: '<!channel> & *7*' },
        event: { type: 'deployment', status: 'DEPLOYED', message: 'updated' },
        settings: [{ name: 'memory_mb', from: '2048', to: '4096' }],
        hoursBefore: 3,
      },
    ],
    deploymentCount: 5,
    drivers: [
      {
        resourceName: 'demo-analyst',
        resourceUuid: 'agt-1',
        cost: '84.000000000000',
        expected: '1.000000000000',
        part: 99.4,
      },
      {
        resourceName: '<!here> & co',
        resourceUuid: null,
        cost: '2.000000000000',
        expected: '0.000000000000',
        part: 2.4,
      },
    ],
  },
};

/** An anomaly on its seventh day, which was reported before. */
export const exampleRunaway: AlertFact & { readonly kind: 'anomaly' } = {
  ...(exampleFacts['anomaly'] as AlertFact & { readonly kind: 'anomaly' }),
  severity: 'critical',
  anomaly: 'step',
  lastDay: '2026-10-26',
  completeThrough: '2026-10-27T02:00:00Z',
  revision: '2026-10-26',
  notice: 'continues',
  lastNotice: { day: '2026-10-22', impact: '191.570000000000' },
  costSoFar: '556.090000000000',
  impact: '543.950000000000',
  dailyImpact: '88.630000000000',
  monthEnd: { month: '2026-10', impact: '987.100000000000' },
  budgets: [
    {
      ...{ name: 'customer-demos', period: '2026-10', amount: '600.000000000000', spent: '604.260000000000' },
      ...{ expected: '1047.410000000000', stopped: '630.000000000000' },
    },
    {
      ...{ name: 'everything', period: '2026-10', amount: '5000.000000000000', spent: '4349.490000000000' },
      ...{ expected: '5392.640000000000', stopped: '4949.490000000000' },
    },
  ],
  owner: 'team Demos & <friends>',
};

/** The same runaway in two billing dimensions. */
export const exampleParts: AlertFact & { readonly kind: 'anomaly' } = {
  ...exampleRunaway,
  costSoFar: '568.950000000000',
  impact: '556.450000000000',
  monthEnd: { month: '2026-10', impact: '1010.100000000000' },
  parts: (
    [
      [exampleRunaway.key, exampleRunaway.billingDimension, exampleRunaway.impact],
      ['anomaly/acc_main/customer-demos/agent/agent_egress_gb/2026-10-20', 'agent_egress_gb', '12.500000000000'],
    ] as const
  ).map(([key, billingDimension, impact]) => {
    const { workspace, resourceType, anomaly, firstDay, lastDay, isOver } = exampleRunaway;
    return { key, workspace, resourceType, billingDimension, anomaly, firstDay, lastDay, isOver, impact };
  }),
};

/** A runaway that was called fixed, and still costs more. */
export const exampleCalled: AlertFact & { readonly kind: 'anomaly' } = {
  ...exampleRunaway,
  notice: 'unfixed',
  feedback: [
    {
      ...{ key: exampleRunaway.key, as: 'fixed', givenAt: '2026-10-25T09:00:00Z', appliesFrom: '2026-10-26' },
      ...{ largestCost: '97.100000000000', bar: null },
    },
  ],
};

/** A forecast threshold, which is also a fact of the kind budget. */
export const exampleForecast: AlertFact & { readonly kind: 'budget' } = {
  ...(exampleFacts['budget'] as AlertFact & { readonly kind: 'budget' }),
  key: 'budget/acc_main/research/2026-10/forecast:100%',
  threshold: '100%',
  of: 'forecast',
  limit: '5000.000000000000',
  forecast: {
    value: '6012.345678000000',
    low: '5700.000000000000',
    high: '6400.500000000000',
    level: 80,
    exceedsAt: '2026-10-23T00:00:00Z',
    exceedsOn: '2026-10-23',
    model: 'trend-16',
    step: 'day',
    historyStart: '2026-03-01T00:00:00Z',
    historyEnd: '2026-10-21T00:00:00Z',
    observations: 234,
  },
};

export function entryOf(fact: AlertFact, transition: AlertEntry['transition'] = 'raised', occurrence = 1): AlertEntry {
  return { key: fact.key, occurrence, transition, fact };
}

/** A message with these entries. */
export function messageOf(...entries: readonly AlertEntry[]): OutgoingMessage {
  return messageFrom({ project: 'acme', host: 'finops-01' }, entries);
}

/** A message with these entries, from this project. */
export function messageFrom(origin: Origin, entries: readonly AlertEntry[]): OutgoingMessage {
  return {
    kind: 'alerts',
    id: '0123456789abcdef0123456789abcdef',
    at: '2026-10-21T02:16:00Z',
    completeThrough,
    settledThrough: '2026-10-18T02:00:00Z',
    entries: entries.map((entry) => messageEntry(entry, origin)),
    summary: null,
    origin,
    mayBeRepeat: false,
    isTest: false,
  };
}

/** The picture of an anomaly of seven days; `subject` is the resource that it names. */
export function examplePicture(subject = 'demo-analyst'): Picture {
  const costs = Array.from({ length: 50 }, (_, day) => (day < 43 ? 5 + (day % 7) : 90));
  const usual = costs.map((_, day) => (day < 14 ? undefined : { expected: 8, low: 4, high: 12 }));
  const amounts = { impact: '543.960000000000', cost: '90.000000000000', expected: '8.000000000000' };
  const band = { expectedLow: '4.000000000000', expectedHigh: '12.000000000000' };
  const days = { firstDay: 20_740, lastDay: 20_746, from: 20_697, costs, usual };
  return { shape: 'band', completeThrough, ...anomalyDays({ subject, isUp: true, ...amounts, ...band, ...days }) };
}

/** A forecast threshold of a shared budget, with everything that a budget can have besides. */
export const exampleShared: AlertFact & { readonly kind: 'budget' } = {
  ...exampleForecast,
  carried: '250.000000000000',
  parts: [
    { name: 'search', value: '500.120000000000' },
    { name: 'ads', value: null },
  ],
  run: true,
  ...(exampleForecast.forecast
    ? { forecast: { ...exampleForecast.forecast, changes: ['launch on 2026-10-26 (+30%) adds 120.00 USD'] } }
    : {}),
};

/** A forecast of a period that has just begun. */
export const exampleBegun: AlertFact & { readonly kind: 'budget' } = {
  ...exampleForecast,
  key: 'budget/acc_main/research/2026-11/forecast:100%',
  ...{ period: '2026-11', periodStart: '2026-11-01T00:00:00Z', periodEnd: '2026-12-01T00:00:00Z' },
  ...{ value: '12.345678000000', completeThrough: '2026-11-01T02:00:00Z', unusual: undefined, end: undefined },
  previous: {
    ...{ period: '2026-10', value: '5923.450000000000', unusual: '715.630000000000' },
    drivers: [driver('sandbox', 'training-lab', 'research', '1203.330000000000')],
  },
};

/** A threshold of a budget in a unit of usage, and one of its forecast. */
export const exampleUsage: AlertFact & { readonly kind: 'budget' } = {
  ...(exampleFacts['budget'] as AlertFact & { readonly kind: 'budget' }),
  key: 'budget/acc_main/runtime/2026-10/80%',
  budget: 'runtime',
  unit: 'GB-seconds',
  value: '1689000.500000000000',
  limit: '1600000.000000000000',
  amount: '2000000.000000000000',
  drivers: [driver('sandbox', 'training-lab', 'research', '512000.250000000000')],
};

/** A forecast threshold of such a budget. */
export const exampleUsageForecast: AlertFact & { readonly kind: 'budget' } = {
  ...exampleUsage,
  key: 'budget/acc_main/runtime/2026-10/forecast:100%',
  threshold: '100%',
  of: 'forecast',
  limit: '2000000.000000000000',
  ...(exampleForecast.forecast
    ? {
        forecast: {
          ...exampleForecast.forecast,
          ...{ value: '2400000.000000000000', low: '2300000.000000000000', high: '2500000.000000000000' },
        },
      }
    : {}),
};

/** A threshold of a cost per unit. */
export const exampleRatio: AlertFact & { readonly kind: 'budget' } = {
  ...(exampleFacts['budget'] as AlertFact & { readonly kind: 'budget' }),
  key: 'budget/@all/orders/2026-10/100%',
  account: null,
  budget: 'orders',
  unit: 'USD per order',
  threshold: '100%',
  severity: 'critical',
  value: '0.061250000000',
  limit: '0.050000000000',
  amount: '0.050000000000',
  per: { name: 'order', count: '80000', cost: '4900.000000000000', through: '2026-10-20' },
  completeThrough: '2026-10-21T00:00:00Z',
  gaps: ['no count of order for 2026-10-12; the costs of these days are left out'],
};
