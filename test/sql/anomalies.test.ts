import { describe, expect, test } from 'vitest';
import { readCalled } from '../../src/anomalies/called.ts';
import type { AnomalyFact } from '../../src/anomalies/fact.ts';
import { type AnomalyRules, usualRules } from '../../src/anomalies/rules.ts';
import { anomalyOverWords } from '../../src/anomalies/words.ts';
import { readAlertFacts } from '../../src/findings/collect.ts';
import { knownAlerts } from '../../src/warehouse/watch/alerts.ts';
import { answer, type Given, givenBooks } from '../support/given-books.ts';
import { reported } from '../support/reported.ts';

const now = Date.parse('2026-09-30T02:00:00Z');
const dayMs = 86_400_000;

/** What one resource cost on each day from a day on, in its twelfth hour. */
function daily(from: string, costs: readonly number[], more: Readonly<Record<string, string | null>> = {}) {
  return costs.map((cost, place) => ({
    bucket_start: `${new Date(Date.parse(from) + place * dayMs).toISOString().slice(0, 10)} 12:00:00`,
    cost: String(cost),
    usage: String(cost * 100),
    ...more,
  }));
}

const through = (day: string) => ({
  accounts: [{ history_start: '2026-07-01' }],
  loads: [{ window_start: '2026-07-01' }],
  covered: [{ window_start: '2026-07-01', window_end: day, claimed_end: day }],
});

async function evaluated(given: Given, rules: AnomalyRules = usualRules) {
  const books = await givenBooks(given);
  try {
    const { facts, anomalies } = await readAlertFacts(books.connection, await knownAlerts(books.connection), {
      ...{ now, freshnessHours: 10_000, configured: [], budgets: [], overlay: '/nowhere' },
      anomalyRules: rules,
      signal: new AbortController().signal,
      runChecks: async () => [], // no fact of a check is asked for
    });
    return { anomalies, facts: facts.filter((fact): fact is AnomalyFact => fact.kind === 'anomaly') };
  } finally {
    books.close();
  }
}

const forty = new Array<number>(40).fill(10);

describe('an evaluation', () => {
  test('finds a more expensive day and its drivers, compared with the expected cost of each resource', async () => {
    const other = { resource_name: 'other', resource_uuid: 'sbx-2' };
    const { anomalies, facts } = await evaluated({
      ...through('2026-09-10'),
      costs: [...daily('2026-08-01', [...forty, 10]), ...daily('2026-08-01', [...forty.slice(0, 39), 30], other)],
    });
    expect(anomalies.accounts).toEqual([
      { account: 'acc_one', evaluatedThrough: Date.parse('2026-09-10'), loadNumber: 1 },
    ]);
    expect(facts).toMatchObject([
      {
        key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-09',
        anomaly: 'spike',
        cost: '40.000000000000',
        expected: '20.000000000000',
        firstHour: '2026-09-09T12:00:00Z',
        drivers: [
          { resourceName: 'other', cost: '30.000000000000', expected: '10.000000000000', part: 100 },
          { resourceName: 'box', cost: '10.000000000000', expected: '10.000000000000', part: 0 },
        ],
      },
    ]);
  });

  test('names what was deployed or changed of the drivers in the 48 hours before the first hour, or on its day', async () => {
    const state = { memory_mb: '1024', valid_from: '2026-08-01', valid_to: '2026-09-08 02:00:00' };
    const { facts } = await evaluated({
      ...through('2026-09-10'),
      costs: daily('2026-08-01', [...forty.slice(0, 39), 30]),
      resource_events: [
        { event_time: '2026-09-07 11:59:59', revision: 'too early' },
        { event_time: '2026-09-07 12:00:00', revision: 'r1', status: 'FAILED', message: 'no space' },
        { event_time: '2026-09-09 12:30:00', revision: 'r2' },
        { event_time: '2026-09-09 14:30:00', revision: 'r3' },
        { event_time: '2026-09-10 00:00:00', revision: 'too late' },
        { event_time: '2026-09-09 11:00:00', resource_name: 'no driver' },
        { event_time: '2026-09-09 11:00:00', workspace: 'south' },
        { event_time: '2026-09-09 11:00:00', resource_type: 'agent' },
        { event_time: '2026-09-09 11:00:00', account: 'acc_two' },
      ],
      resources: [
        state,
        { ...state, memory_mb: '4096', valid_from: '2026-09-08 02:00:00', valid_to: null, run_number: 3 },
      ],
      listings: [
        { run_number: 1, read_at: '2026-09-06 02:00:01' },
        { run_number: 2, read_at: '2026-09-07 02:00:01' },
        { run_number: 2, read_at: '2026-09-07 12:00:00', outcome: 'failed' },
        { run_number: 3, read_at: '2026-09-08 02:00:01' },
      ],
    });
    const box = { workspace: 'north', resourceType: 'sandbox', resourceName: 'box' };
    expect(facts.map(({ firstHour }) => firstHour)).toEqual(['2026-09-09T12:00:00Z']);
    expect(facts[0]?.deploymentCount).toBe(4);
    expect(facts[0]?.deployments).toEqual([
      {
        ...{ ...box, revision: 'r2', settings: [], hoursBefore: -1 },
        ...{ after: '2026-09-09T12:30:00Z', by: '2026-09-09T12:30:00Z' },
        event: { type: 'deployment', status: 'DEPLOYED', message: null },
      },
      {
        ...{ ...box, revision: null, hoursBefore: 34 },
        ...{ after: '2026-09-07T02:00:01Z', by: '2026-09-08T02:00:00Z' },
        settings: [{ name: 'memory_mb', from: '1024', to: '4096' }],
      },
      {
        ...{ ...box, revision: 'r3', settings: [], hoursBefore: -3 },
        ...{ after: '2026-09-09T14:30:00Z', by: '2026-09-09T14:30:00Z' },
        event: { type: 'deployment', status: 'DEPLOYED', message: null },
      },
      {
        ...{ ...box, revision: 'r1', settings: [], hoursBefore: 48 },
        ...{ after: '2026-09-07T12:00:00Z', by: '2026-09-07T12:00:00Z' },
        event: { type: 'deployment', status: 'FAILED', message: 'no space' },
      },
    ]);
  });

  test('only evaluates complete days', async () => {
    const costs = daily('2026-08-01', [...forty, 100]);
    expect((await evaluated({ ...through('2026-09-10 23:00:00'), costs })).facts).toEqual([]);
    expect((await evaluated({ ...through('2026-09-11'), costs })).facts).toMatchObject([{ anomaly: 'spike' }]);
  });

  test('distinguishes a changed price from changed usage', async () => {
    const costs = daily('2026-08-01', forty).concat(
      daily('2026-09-10', [16]).map((row) => ({ ...row, usage: '1000' })),
    );
    expect((await evaluated({ ...through('2026-09-11'), costs })).facts).toMatchObject([
      {
        key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-10/price',
        anomaly: 'price',
        moved: 'price',
        priceEffect: '6.000000000000',
        volumeEffect: '0.000000000000',
      },
    ]);
  });

  test('reports new costs as new and vanished costs as a drop; in books that just started nothing is new', async () => {
    const fresh = { workspace: 'south', resource_name: 'young', resource_uuid: 'sbx-9' };
    const costs = [...daily('2026-08-01', forty), ...daily('2026-09-10', [7], fresh)];
    const { facts } = await evaluated({ ...through('2026-09-11'), costs });
    expect(facts.map(({ anomaly, workspace, isUp }) => [anomaly, workspace, isUp])).toEqual([
      ['drop', 'north', false],
      ['new', 'south', true],
    ]);
    const young = { ...through('2026-09-11'), accounts: [{ history_start: '2026-09-05' }] };
    expect((await evaluated({ ...young, costs })).facts).toEqual([]);
  });

  test('waits with a drop if a large part of an earlier day arrived after the day was loaded', async () => {
    const given = { ...through('2026-09-11'), costs: daily('2026-08-01', forty) };
    expect((await evaluated(given)).facts).toMatchObject([{ anomaly: 'drop', firstDay: '2026-09-10' }]);
    const came = { bucket_start: '2026-09-08 12:00:00', old_cost: '5', new_cost: '10' };
    expect((await evaluated({ ...given, restatements: [came] })).facts).toEqual([]);
    expect((await evaluated({ ...given, restatements: [{ ...came, old_cost: '9' }] })).facts).toHaveLength(1);
  });

  test('requires the minimum difference in dollars and percent of the rules', async () => {
    const costs = daily('2026-08-01', [...forty, 14]);
    const given = { ...through('2026-09-11'), costs };
    expect((await evaluated(given)).facts).toEqual([]);
    expect((await evaluated(given, { ...usualRules, minAmount: 3 })).facts).toHaveLength(1);
    expect((await evaluated(given, { ...usualRules, minAmount: 3, minShare: 0.5 })).facts).toEqual([]);
  });

  test('evaluates a day again only if it was restated', async () => {
    const given = {
      ...through('2026-09-11'),
      costs: daily('2026-08-01', [...forty, 50]),
      anomaly_evaluations: [{ evaluated_through: '2026-09-11', load_number: 3 }],
    };
    const unchanged = await evaluated(given);
    expect([unchanged.facts, unchanged.anomalies.accounts]).toEqual([[], []]);
    const old = { bucket_start: '2026-09-10 12:00:00', old_cost: '10', new_cost: '50' };
    expect((await evaluated({ ...given, restatements: [{ ...old, load_number: 3 }] })).facts).toEqual([]);
    expect((await evaluated({ ...given, restatements: [{ ...old, load_number: 4 }] })).facts).toHaveLength(1);
  });

  test('ends an anomaly that a restatement removes, even if no cost of its scope is left', async () => {
    const key = 'anomaly/acc_one/south/sandbox/sandbox_compute_runtime_gbs/2026-09-10';
    const day = '2026-09-10';
    const { anomalies, facts } = await evaluated({
      ...through('2026-09-12'),
      costs: daily('2026-08-01', [...forty, 10, 10]),
      anomalies: [
        {
          anomaly_key: key,
          workspace: 'south',
          kind: 'new',
          first_day: day,
          seen_day: day,
          last_day: day,
          notified_day: day,
        },
      ],
      anomaly_evaluations: [{ evaluated_through: '2026-09-11', load_number: 3 }],
      restatements: [
        {
          ...{ workspace: 'south', bucket_start: '2026-09-10 12:00:00' },
          ...{ old_cost: '50', new_cost: null, old_usage: '500', new_usage: null, load_number: 4 },
        },
      ],
      alerts: [{ alert_key: key, kind: 'anomaly', fact: JSON.stringify({ key, kind: 'anomaly', isOver: false }) }],
    });
    expect(anomalies.anomalies).toMatchObject([{ anomaly_key: key, state: 'restated' }]);
    expect(facts).toMatchObject([{ key, state: 'resolved', isRestated: true }]);
  });

  test('ends an anomaly that a restatement removes', async () => {
    const key = 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-10';
    const { anomalies, facts } = await evaluated({
      ...through('2026-09-11'),
      costs: daily('2026-08-01', [...forty, 10]),
      anomalies: [
        {
          anomaly_key: key,
          first_day: '2026-09-10',
          seen_day: '2026-09-10',
          last_day: '2026-09-10',
          notified_day: '2026-09-10',
        },
      ],
      anomaly_evaluations: [{ evaluated_through: '2026-09-11', load_number: 3 }],
      restatements: [{ bucket_start: '2026-09-10 12:00:00', old_cost: '50', new_cost: '10', load_number: 4 }],
      alerts: [{ alert_key: key, kind: 'anomaly', fact: JSON.stringify({ key, kind: 'anomaly', isOver: false }) }],
    });
    expect(anomalies.anomalies).toMatchObject([{ anomaly_key: key, state: 'restated' }]);
    expect(facts).toMatchObject([{ key, state: 'resolved', isRestated: true }]);
  });

  describe('after feedback on an anomaly of 7 September', () => {
    const scope = 'north/sandbox/sandbox_compute_runtime_gbs';
    const costs = daily('2026-08-01', [...forty.slice(0, 37), 30, 10, 10, 10, 10, 10, 10, 10, 10, 30]);
    const given = {
      ...through('2026-09-17'),
      costs,
      anomalies: [{ state: 'over', ended_day: '2026-09-09' }],
      anomaly_evaluations: [{ evaluated_through: '2026-09-16', load_number: 1 }],
    };
    const raised = (facts: readonly AnomalyFact[]) => facts.map(({ key }) => key);

    test('holds the same cost against its bar, and stores that it did', async () => {
      const without = await evaluated(given);
      expect(raised(without.facts)).toContain(`anomaly/acc_one/${scope}/2026-09-16`);
      const { facts, anomalies } = await evaluated({ ...given, alert_feedback: [{}] });
      expect(raised(facts)).not.toContain(`anomaly/acc_one/${scope}/2026-09-16`);
      const row = anomalies.anomalies.find(({ first_day: first }) => first === '2026-09-16');
      expect(row).toMatchObject({ kind: 'spike', is_notified: false, notified_day: null });
      expect(JSON.parse(row?.detail ?? '{}')).toMatchObject({ heldDays: ['2026-09-16'] });
    });

    test('reports it if the feedback is of another scope, was taken back, or applies later', async () => {
      for (const alert_feedback of [
        [{ workspace: 'south' }],
        [{ billing_dimension: null }],
        [{}, { feedback: 'none', applies_from: '2026-09-12', given_at: '2026-09-12 09:00:00', run_number: 4 }],
        [{ applies_from: '2026-09-17' }],
        [{ feedback: 'fixed' }],
      ]) {
        const { facts } = await evaluated({ ...given, alert_feedback });
        expect(raised(facts), JSON.stringify(alert_feedback)).toContain(`anomaly/acc_one/${scope}/2026-09-16`);
      }
    });

    test('takes the exact cost of the largest day, and applies to days that are not judged yet', async () => {
      const key = `anomaly/acc_one/${scope}/2026-09-07`;
      const now = Date.parse('2026-09-18T09:00:00Z');
      const books = await givenBooks({
        ...given,
        costs: [...costs, ...daily('2026-09-08', [30.000000000001], { resource_uuid: 'sbx-9' })],
        anomalies: [{ last_day: '2026-09-08' }],
      });
      try {
        const asked = (feedback: 'expected' | 'fixed') =>
          readCalled(books.connection, { key, feedback, now }, new Map());
        expect(await asked('expected')).toMatchObject([
          { anomaly_key: key, first_day: '2026-09-07', last_day: '2026-09-08', applies_from: '2026-09-16' },
        ]);
        expect((await asked('expected'))[0]?.largest_cost).toBe('40.000000000001');
        expect(await asked('fixed')).toMatchObject([{ applies_from: '2026-09-19' }]);
        const other = { key: 'stale/acc_one', feedback: 'expected', now } as const;
        await expect(readCalled(books.connection, other, new Map())).rejects.toThrow('stale/acc_one is no anomaly');
      } finally {
        books.close();
      }
    });

    test('takes a whole day at its pace if it began in the last hours of its only day', async () => {
      const key = `anomaly/acc_one/${scope}/2026-09-07`;
      const now = Date.parse('2026-09-08T09:00:00Z');
      const detail = JSON.stringify({ impacts: [20], pace: '97.000000000000' });
      const largestOf = async (more: object) => {
        const books = await givenBooks({ ...given, anomalies: [{ expected: '10', detail, ...more }] });
        try {
          const [called] = await readCalled(books.connection, { key, feedback: 'expected', now }, new Map());
          return Number(called?.largest_cost);
        } finally {
          books.close();
        }
      };
      expect(await largestOf({ last_day: '2026-09-07' })).toBe(107);
      expect(await largestOf({ last_day: '2026-09-08' })).toBe(30);
    });
  });

  describe('of an account whose token changed from admin to member on 10 September', () => {
    const volume = { resource_type: 'volume', resource_name: 'disk', resource_uuid: null };
    const costs = [
      ...daily('2026-08-01', forty, volume),
      ...daily('2026-09-10', [10, 10], { ...volume, workspace: null }),
    ];
    const given: Given = {
      accounts: [{ history_start: '2026-07-01' }],
      loads: [{ window_start: '2026-07-01' }, { load_number: 2, window_start: '2026-09-10', role: 'member' }],
      covered: [
        { window_start: '2026-07-01', window_end: '2026-09-10', claimed_end: '2026-09-10' },
        ...[{ window_start: '2026-09-10', window_end: '2026-09-12', claimed_end: '2026-09-12', role: 'member' }].map(
          (window) => ({ ...window, load_number: 2, since_load: 2 }),
        ),
      ],
      costs,
    };

    test('finds nothing in costs that only lost their workspace', async () => {
      expect((await evaluated(given)).facts).toEqual([]);
      // An admin's numbers would be a drop and a new cost.
      const admin = { ...given, ...through('2026-09-12') };
      expect((await evaluated(admin)).facts.map(({ anomaly }) => anomaly).sort()).toEqual(['drop', 'new']);
    });

    test('still finds a cost that rose', async () => {
      const risen = [...costs.slice(0, 41), ...daily('2026-09-11', [40], { ...volume, workspace: null })];
      const { facts } = await evaluated({ ...given, costs: risen });
      expect(facts).toMatchObject([{ anomaly: 'spike', workspace: null, expected: '10.000000000000' }]);
    });

    test('ends an open anomaly of the workspace, and says that the role changed', async () => {
      const key = 'anomaly/acc_one/north/volume/sandbox_compute_runtime_gbs/2026-09-09';
      const days = {
        first_day: '2026-09-09',
        seen_day: '2026-09-09',
        last_day: '2026-09-09',
        notified_day: '2026-09-09',
      };
      const { facts } = await evaluated({
        ...given,
        anomalies: [{ anomaly_key: key, resource_type: 'volume', ...days }],
        anomaly_evaluations: [{ evaluated_through: '2026-09-10', load_number: 1 }],
        alerts: [{ alert_key: key, kind: 'anomaly', fact: JSON.stringify({ key, kind: 'anomaly', isOver: false }) }],
      });
      expect(facts).toMatchObject([{ key, state: 'resolved', isRestated: true, isByAccess: true }]);
      const words = anomalyOverWords(facts[0] as AnomalyFact);
      expect(words.title).toContain('the role of the token has changed');
      expect(words.sentences.join(' ')).not.toContain('corrected');
    });
  });

  test('withdraws open alerts if anomalies are switched off', async () => {
    const key = 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-10';
    const { facts } = await evaluated(
      {
        ...through('2026-09-11'),
        alerts: [{ alert_key: key, kind: 'anomaly', fact: JSON.stringify({ key, kind: 'anomaly', isOver: false }) }],
      },
      { ...usualRules, isOn: false },
    );
    expect(facts).toMatchObject([{ key, state: 'withdrawn' }]);
  });
});

test('the view anomalies has the current state of each anomaly', async () => {
  const given = {
    anomalies: [
      { replaced_at: '2026-09-09 02:00:00' },
      { recorded_at: '2026-09-09 02:00:00', last_day: '2026-09-08', impact: '45', kind: 'step' },
    ],
  };
  const sql = `select anomaly_key, kind, last_day, impact, first_hour, moved, price_effect, volume_effect, driver, driver_part
    from anomalies`;
  expect(await answer(given, sql)).toEqual([
    {
      anomaly_key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-07',
      kind: 'step',
      last_day: '2026-09-08',
      impact: '45.000000000000',
      first_hour: '2026-09-07 05:00:00',
      moved: 'usage',
      price_effect: '1.500000000000',
      volume_effect: '18.500000000000',
      driver: 'box',
      driver_part: '100.0',
    },
  ]);
});

test('the report anomalies without a month lists open anomalies, and those of the last five weeks', async () => {
  const at = (first_day: string, more = {}) => ({ anomaly_key: first_day, first_day, last_day: first_day, ...more });
  const over = { state: 'over', ended_day: '2026-09-08' };
  const rows = await reported(
    'anomalies',
    {
      accounts: [{}],
      loads: [{}],
      covered: [{}], // complete through 8 September
      anomalies: [
        at('2026-05-01'),
        at('2026-08-03', over),
        at('2026-08-05', over),
        at('2026-09-01', { state: 'restated' }),
        at('2026-09-02', { is_notified: false }),
        at('2026-09-07', over),
      ],
    },
    {},
  );
  expect(rows.map((row) => (row as Record<string, unknown>)['first_day'])).toEqual([
    '2026-05-01',
    '2026-08-05',
    '2026-09-07',
  ]);
});

test('the report anomalies of a month lists the anomalies worth a notification', async () => {
  const at = (first_day: string, last_day: string, more = {}) => ({
    anomaly_key: first_day,
    first_day,
    last_day,
    ...more,
  });
  const rows = await reported(
    'anomalies',
    {
      anomalies: [
        at('2026-08-30', '2026-08-31'),
        at('2026-08-29', '2026-09-01'),
        at('2026-09-30', '2026-10-02'),
        at('2026-10-01', '2026-10-01'),
        at('2026-09-10', '2026-09-10', { is_notified: false, kind: 'dip' }),
        at('2026-09-11', '2026-09-11', { state: 'restated' }),
        at('2026-09-12', '2026-09-12', { account: 'acc_two' }),
      ],
    },
    { month: '2026-09', account: 'acc_one' },
  );
  expect(rows.map((row) => (row as Record<string, unknown>)['first_day'])).toEqual(['2026-08-29', '2026-09-30']);
  expect(rows[0]).toMatchObject({ kind: 'spike', cost: '30.000000000000', driver: 'box', moved: 'usage' });
});

describe('an exclusion', () => {
  const excluding = (...exclude: AnomalyRules['exclude']): AnomalyRules => ({ ...usualRules, exclude });
  const north = { scope: { workspace: ['north'] }, until: null, reason: 'tests' };
  const other = { resource_name: 'bench-1', resource_uuid: 'sbx-2' };
  const spike = [...forty.slice(0, 39), 60];
  const given = (costs: NonNullable<Given['costs']>): Given => ({ ...through('2026-09-10'), costs });

  test('keeps what it covers from alerts, and the books have its reason', async () => {
    const { facts, anomalies } = await evaluated(given(daily('2026-08-01', spike)), excluding(north));
    expect(facts).toEqual([]);
    const told = anomalies.present.filter(({ is_notified }) => is_notified);
    expect(told.map(({ detail }) => JSON.parse(detail).excluded)).toEqual([{ reason: 'tests', until: null }]);
  });

  test.each([
    ['acts on its last day', '2026-09-09', 0],
    ['does not act after its last day', '2026-09-08', 1],
  ])('%s', async (_, until, alerts) => {
    const { facts } = await evaluated(given(daily('2026-08-01', spike)), excluding({ ...north, until }));
    expect(facts).toHaveLength(alerts);
    // Its reason may be why the costs are higher: the alert after it says so.
    for (const fact of facts) expect(fact.formerlyExcluded).toEqual({ reason: 'tests', until });
  });

  test('of resources covers an anomaly whose rest is usual, and no other', async () => {
    const byName = excluding({ scope: { resource_name: ['bench-*'] }, until: null, reason: 'benches' });
    const ofBench = given([...daily('2026-08-01', forty), ...daily('2026-08-01', spike, other)]);
    const ofBoth = given([...daily('2026-08-01', spike), ...daily('2026-08-01', spike, other)]);
    const stopped = given([...daily('2026-08-01', forty), ...daily('2026-08-01', forty.slice(0, 30), other)]);
    expect((await evaluated(ofBench, byName)).facts).toEqual([]);
    expect((await evaluated(ofBoth, byName)).facts).toHaveLength(1);
    expect((await evaluated(stopped, usualRules)).facts).toMatchObject([{ isUp: false }]);
    expect((await evaluated(stopped, byName)).facts).toEqual([]);
    // Ten days of a bench do not make little of the one day on which another resource runs away.
    const long = [...forty.slice(0, 30), ...Array<number>(10).fill(60)];
    const late = [...forty.slice(0, 39), 40];
    const ofLong = given([...daily('2026-08-01', forty), ...daily('2026-08-01', long, other)]);
    const besideLong = given([...daily('2026-08-01', late), ...daily('2026-08-01', long, other)]);
    expect((await evaluated(ofLong, byName)).facts).toEqual([]);
    expect((await evaluated(besideLong, byName)).facts).toHaveLength(1);
  });

  test('of a label covers the resources that have it', async () => {
    const byLabel = excluding({ scope: { label: { env: ['drill'] } }, until: null, reason: 'drills' });
    const labelled = (value: string): Given => ({
      ...given(daily('2026-08-01', spike)),
      resources: [{ labels: JSON.stringify({ env: value }), valid_from: '2026-07-01' }],
    });
    expect((await evaluated(labelled('drill'), byLabel)).facts).toEqual([]);
    expect((await evaluated(labelled('prod'), byLabel)).facts).toHaveLength(1);
  });

  test('withdraws the alert that was open, which comes back once it has ended', async () => {
    const alert = (more: Readonly<Record<string, string>>): Given => ({
      ...given(daily('2026-08-01', spike)),
      alerts: [
        {
          ...{ alert_key: 'anomaly/acc_one/north/sandbox/sandbox_compute_runtime_gbs/2026-09-09', kind: 'anomaly' },
          fact: JSON.stringify({ kind: 'anomaly', isOver: false, firstDay: '2026-09-09', lastDay: '2026-09-09' }),
          ...more,
        },
      ],
    });
    const withdrawn = { ending: 'withdrawn', end_fact: '{}', ended_at: '2026-09-11 02:00:00' };
    const states = async (known: Given, rules: AnomalyRules) =>
      (await evaluated(known, rules)).facts.map(({ state }) => state);
    expect(await states(alert({}), excluding(north))).toEqual(['withdrawn']);
    expect(await states(alert(withdrawn), excluding(north))).toEqual([]);
    expect(await states(alert(withdrawn), excluding({ ...north, until: '2026-09-08' }))).toEqual(['raised']);
  });
});
