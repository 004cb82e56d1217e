import { expect, test } from 'vitest';
import { messagesOf } from '../../src/alerts/message.ts';
import { shownWithOthers } from '../../src/findings/same-budget.ts';
import { webhookBody } from '../../src/sinks/kinds/webhook.ts';
import { type Message, type OutgoingMessage, plainText, subjectOf } from '../../src/sinks/message.ts';
import { entryOf, exampleFacts, exampleForecast } from '../support/example-alerts.ts';

const spent = exampleFacts['budget'] as typeof exampleForecast;
const forecast = { ...exampleForecast, budget: spent.budget, period: spent.period };
const state = { at: '2026-10-21T02:15:00Z', completeThrough: null, settledThrough: null };

/** The one message of these alerts. */
function messageOf(...facts: readonly (typeof forecast)[]): OutgoingMessage {
  const entries = facts.map((fact) => ({ entry: entryOf(fact), sinks: ['out'] }));
  const [made] = messagesOf(entries, state);
  return { ...(JSON.parse(made?.message ?? '') as Message), id: 'id', mayBeRepeat: false, isTest: false };
}

test('two thresholds of one budget and period are one text with both keys, and two alerts for receivers of data', () => {
  const message = messageOf(forecast, spent);
  expect(subjectOf(message)).toBe(subjectOf(messageOf(spent)));
  const text = plainText(message);
  expect(text.match(/^\S+ Budget research: /gm)).toHaveLength(1);
  expect(text).toContain('Threshold: 80% (4,000.00 USD), forecast above 100% (5,000.00 USD)');
  for (const { key } of [spent, forecast]) expect(text).toContain(`key ${key}`);
  const { alerts } = JSON.parse(webhookBody(message)) as { alerts: { key: string }[] };
  expect(alerts.map(({ key }) => key).sort()).toEqual([spent.key, forecast.key].sort());
});

test('thresholds of other periods, and ends, are texts of their own', () => {
  expect(plainText(messageOf(spent, { ...forecast, period: '2026-11' }))).toContain('2 alerts');
  expect(shownWithOthers([spent, { ...forecast, state: 'resolved' }]).size).toBe(0);
});

test('the most severe one is shown in full', () => {
  const critical = { ...spent, key: 'budget/x', severity: 'critical' as const, limit: '5000' };
  expect([...shownWithOthers([forecast, spent, critical])]).toEqual([
    [spent.key, critical.key],
    [forecast.key, critical.key],
  ]);
});
