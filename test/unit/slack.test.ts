import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { type AlertFact, dataKinds } from '../../src/findings/kinds/index.ts';
import { mailOf } from '../../src/sinks/kinds/email.ts';
import { maxWebhookBytes, webhookBody } from '../../src/sinks/kinds/webhook.ts';
import { type OutgoingMessage, plainText } from '../../src/sinks/message.ts';
import { readInSlack, slackMessage } from '../../src/sinks/slack-message.ts';
import { blockKitFaults } from '../support/block-kit.ts';
import {
  entryOf,
  exampleBegun,
  exampleCalled,
  exampleFacts,
  exampleForecast,
  exampleParts,
  exampleRatio,
  exampleRunaway,
  exampleShared,
  exampleUsage,
  exampleUsageForecast,
  messageFrom,
  messageOf,
} from '../support/example-alerts.ts';
import fc, { anyCharacter } from '../support/fast-check.ts';

const folder = new URL('../golden/slack/', import.meta.url);

/** Compares with a golden file. A missing file is written, except in CI; explain a change in its commit. */
function golden(name: string, text: string): void {
  const file = new URL(name, folder);
  if (!existsSync(file) && process.env['CI'] === undefined) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe(readFileSync(file, 'utf8'));
}

const facts = Object.values(exampleFacts);
const budget = exampleFacts['budget'] as AlertFact & { kind: 'budget' };
const summary: OutgoingMessage = {
  ...messageOf(),
  kind: 'summary',
  summary: {
    name: 'weekly/2026-W42',
    title: 'Week 2026-W42: 10.00 USD spent',
    start: '2026-10-12T00:00:00Z',
    end: '2026-10-19T00:00:00Z',
    spent: '10',
    spentBefore: null,
    movers: [],
    budgets: [],
    anomalies: null,
    gaps: [],
    text: 'Spent: 10.00 USD; period before: unknown\n\nLargest changes:\nresource  now\n────────  ────\na & <b>   1.00',
  },
};

const examples: Readonly<Record<string, OutgoingMessage>> = {
  ...Object.fromEntries(facts.map((fact) => [fact.kind, messageOf(entryOf(fact))])),
  ...Object.fromEntries(
    facts.map((fact) => [`${fact.kind}_resolved`, messageOf(entryOf({ ...fact, state: 'resolved' }, 'resolved'))]),
  ),
  budget_of_missing_hours: messageOf(
    entryOf({ ...budget, gaps: ['acc_main is complete through 2026-10-20T00:00:00Z only'] }, 'reminded', 2),
  ),
  anomaly_continues: messageOf(entryOf(exampleRunaway, 'raised', 3)),
  anomaly_parts: messageOf(entryOf(exampleParts)),
  anomaly_unfixed: messageOf(entryOf(exampleCalled, 'raised', 4)),
  anomaly_usual: messageOf(entryOf({ ...exampleRunaway, isOver: true, isUsual: true }, 'resolved', 3)),
  forecast: messageOf(entryOf(exampleForecast)),
  forecast_shared: messageOf(entryOf(exampleShared)),
  forecast_begun: messageOf(entryOf(exampleBegun)),
  forecast_resolved: messageOf(entryOf({ ...exampleForecast, state: 'resolved' }, 'resolved')),
  forecast_ended: messageOf(entryOf({ ...exampleForecast, state: 'resolved', forecast: null }, 'resolved')),
  budget_of_usage: messageOf(entryOf(exampleUsage)),
  forecast_of_usage: messageOf(entryOf(exampleUsageForecast)),
  budget_per_order: messageOf(entryOf(exampleRatio)),
  several: messageOf(...facts.map((fact) => entryOf(fact))),
  repeat: { ...messageOf(entryOf(budget)), mayBeRepeat: true },
  test: { ...messageOf(entryOf(budget)), isTest: true },
  summary,
};

test.each(Object.entries(examples))(
  'the message %s matches its golden file and the limits of Block Kit',
  (name, message) => {
    const slack = slackMessage(message);
    expect(blockKitFaults(slack)).toEqual([]);
    golden(`${name}.json`, `${JSON.stringify(slack, undefined, 2)}\n`);
    golden(`${name}.txt`, `${readInSlack(slack)}\n\n${plainText(message)}`);
  },
);

test('every kind of alert has an example', () => {
  expect(facts.map(({ kind }) => kind).sort()).toEqual(
    ['anomaly', 'budget', ...dataKinds.map(({ name }) => name)].sort(),
  );
});

test('no name can mention the channel', () => {
  const text = JSON.stringify(slackMessage(messageOf(entryOf(budget))));
  expect(text).toContain('&lt;!channel&gt; &amp; ');
  expect(text).not.toContain('<!channel>');
});

test('a message stays within the limits for any content', () => {
  const anyText = fc.string({ unit: anyCharacter, maxLength: 5000 }).map((text) => `${text}&<>😀`.repeat(2));
  const anyFact = fc
    .record({ name: anyText, pick: fc.nat(facts.length - 1), lines: fc.nat(40) })
    .map(({ name, pick, lines }): AlertFact => {
      const fact = facts[pick] as AlertFact;
      const drivers = Array.from({ length: lines }, () => ({
        account: name,
        workspace: name,
        resourceType: name,
        resourceName: name,
        cost: '1.000000000000',
      }));
      const texts = { key: name, about: name, error: name, account: name, dimension: name, check: name, budget: name };
      const windows = Array.from({ length: lines }, () => ({ start: name, end: name, reason: name }));
      return Object.assign({}, fact, texts, { drivers, windows, gaps: [name] });
    });
  fc.assert(
    fc.property(fc.array(anyFact, { minLength: 1, maxLength: 60 }), fc.boolean(), (told, isOver) => {
      const entries = told.map((fact) => entryOf(fact, isOver ? 'resolved' : 'raised'));
      expect(blockKitFaults(slackMessage(messageOf(...entries)))).toEqual([]);
    }),
    { numRuns: 40 },
  );
  const long = { ...summary.summary, text: `${'x & <y> '.repeat(400)}\n`.repeat(300) } as OutgoingMessage['summary'];
  expect(blockKitFaults(slackMessage({ ...summary, summary: long }))).toEqual([]);
});

test.each(['', ' '])('a name "%s" leaves no text empty, for which Slack would refuse the message', (name) => {
  const strange = { ...exampleRunaway, owner: name, billingDimension: name };
  const message = slackMessage(messageOf(entryOf(strange)));
  expect(blockKitFaults(message)).toEqual([]);
  expect(JSON.stringify(message.blocks)).not.toMatch(/"text":" *"/);
});

test('alerts that do not fit are counted', () => {
  const entries = Array.from({ length: 60 }, (_, index) => entryOf({ ...budget, key: `budget/${index}` }));
  const { blocks } = slackMessage(messageOf(...entries));
  expect(JSON.stringify(blocks)).toContain('and 45 more; ');
});

test('a repeated alert shows its occurrence number', () => {
  const told = [2, 3, 11, 12, 13, 21, 22, 23, 111].map((times) =>
    plainText(messageOf(entryOf(budget, 'raised', times))),
  );
  expect(told.map((text) => /\(raised for the (\d+\w+) time\)/.exec(text)?.[1])).toEqual([
    '2nd',
    '3rd',
    '11th',
    '12th',
    '13th',
    '21st',
    '22nd',
    '23rd',
    '111th',
  ]);
});

test('a bar is full and shows 100 % only if everything is spent', () => {
  const text = plainText(messageOf(entryOf({ ...budget, value: '4999.990000000000' })));
  expect(text).toContain('███████████████████░ 99.9 %');
  expect(plainText(messageOf(entryOf({ ...budget, value: '5000.000000000000' })))).toContain('████ 100.0 %');
});

test('a name stays on its line, and contains nothing that a terminal runs', () => {
  const name = 'box\n✅ Resolved: all is well\r\u2028\u001b[2J\u009b2J\u202e';
  const driver = { account: name, workspace: name, resourceType: name, resourceName: name, cost: '1.000000000000' };
  const dimension = { ...exampleFacts['dimension'], dimension: name, account: name } as AlertFact;
  const message = messageOf(entryOf({ ...budget, drivers: [driver], gaps: [name] }), entryOf(dimension));
  for (const text of [plainText(message), readInSlack(slackMessage(message)), slackMessage(message).text]) {
    expect(text).not.toMatch(/^\W*Resolved/mu);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
  }
});

test('a webhook body has at most 100 kB for any content, and counts what it leaves out', () => {
  const many = Array.from({ length: 2000 }, (_, index) => entryOf({ ...budget, key: `budget/${index}` }));
  const name = 'x"\\é😀\u2028'.repeat(3000);
  const long = entryOf({
    ...budget,
    key: name,
    budget: name,
    drivers: [driverOf(name)],
    gaps: Array(500).fill(name),
  });
  const budgets = Array.from({ length: 3000 }, (_, index) => ({
    ...{ budget: `${index} ${name.slice(0, 100)}`, period: '2026-10', spent: null, amount: '1', share: null },
    ...{ state: null, forecast: null },
  }));
  const huge = { ...summary, summary: { ...summary.summary, budgets, gaps: [name], text: name } } as OutgoingMessage;
  for (const message of [messageOf(...many), messageOf(long, ...many), messageOf(long), huge]) {
    const body = webhookBody(message);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxWebhookBytes);
    const { alerts, left, summary: shown } = JSON.parse(body);
    expect((left?.alerts ?? 0) + alerts.length).toBe(message.entries.length);
    if (message.entries.length > 0) expect(alerts.length).toBeGreaterThan(0);
    if (shown !== null) expect(left.budgets + shown.budgets.length).toBe(3000);
  }
  // Data of ordinary size keep the true names.
  expect(JSON.parse(webhookBody(messageOf(entryOf({ ...budget, budget: 'a\u202eb' })))).alerts[0].fact.budget).toBe(
    'a\u202eb',
  );
});

test('a name of 3000 characters leaves room for the other drivers, in every medium', async () => {
  const drivers = ['a'.repeat(3000), '`*_~'.repeat(750), 'last-one'].map(driverOf);
  const message = messageOf(entryOf({ ...budget, drivers }));
  for (const text of [plainText(message), readInSlack(slackMessage(message)), await mailText(message)]) {
    expect(text).toContain('last-one');
    expect(text.length).toBeLessThan(3000);
  }
});

test('no name in any fact adds a line, reverses text or acts as markup', async () => {
  const name =
    'n\n✅ Resolved: all is well\u2028\u0085\u001b[2J\u202e\u200b\u{e0041}<!channel> *b* `c` https://x.example';
  const facts = Object.values(exampleFacts).map((fact) => withTexts(fact, name) as AlertFact);
  for (const transition of ['raised', 'resolved'] as const) {
    const message = messageOf(...facts.map((fact) => entryOf(fact, transition)));
    expect(blockKitFaults(slackMessage(message))).toEqual([]);
    for (const text of [plainText(message), readInSlack(slackMessage(message)), await mailText(message)]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u200b\u202e\u{e0041}]/u);
    }
    for (const text of transition === 'raised' ? [plainText(message), await mailText(message)] : []) {
      expect(text).not.toMatch(/^\W*Resolved/mu);
    }
    expect(await mailText(message)).not.toContain('https://');
  }
});

function driverOf(name: string) {
  return { account: name, workspace: 'w', resourceType: 'agent', resourceName: name, cost: '1.000000000000' };
}

/** Subject and plain text, as a reader of mail decodes them. */
async function mailText(message: OutgoingMessage): Promise<string> {
  const mail = await PostalMime.parse(await mailOf(message, 'a@example.com', ['b@example.com'], []));
  return `${mail.subject}\n${mail.text}`.replaceAll('\r\n', '\n');
}

/** The fact with this in the place of every text that is neither a number, an instant nor a word of our own. */
function withTexts(value: unknown, text: string, key = ''): unknown {
  const own = ['kind', 'severity', 'state', 'anomaly', 'moved', 'outcome', 'of', 'step', 'notice'];
  if (typeof value === 'string') return own.includes(key) || /^-?\d/.test(value) ? value : text;
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withTexts(item, text, name)]));
}

test('a message of a project with a dashboard links to the page of each alert', () => {
  const origin = { project: 'acme', host: 'finops-01', dashboard: 'https://costs.example.com' };
  const named: AlertFact = { ...budget, budget: 'a|b> "c"' };
  const only = messageFrom(origin, [entryOf(named)]);
  const page = 'https://costs.example.com/budgets/a%7Cb%3E%20%22c%22';
  expect(JSON.stringify(slackMessage(only))).toContain(`<${page}|Open in the dashboard>`);
  expect(plainText(only).split('\n')).toContain(page);
  expect(JSON.parse(webhookBody(only))).toMatchObject({ alerts: [{ url: page }] });
  const all = messageFrom(
    origin,
    facts.map((fact) => entryOf(fact)),
  );
  const urls = (JSON.parse(webhookBody(all)) as { alerts: { url: string }[] }).alerts.map(
    ({ url }) => new URL(url).pathname,
  );
  expect(new Set(urls.map((path) => path.split('/')[1]))).toEqual(
    new Set(['budgets', 'anomalies', 'months', 'explore', 'health']),
  );
  expect(blockKitFaults(slackMessage(all))).toEqual([]);
});
