import { describe, expect, test } from 'vitest';
import type { AnomalyFact } from '../../src/anomalies/index.ts';
import type { BudgetAlertFact } from '../../src/findings/budget-fact.ts';
import { cardOf } from '../../src/findings/card.ts';
import { isExplainedByAnomaly } from '../../src/findings/covered-forecasts.ts';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import { type Transitions, transitionsOf } from '../../src/findings/transitions.ts';
import { withBudgetNews } from '../../src/findings/unusual-costs.ts';
import type { KnownAlert } from '../../src/warehouse/watch/index.ts';
import { exampleCalled, exampleForecast, exampleRunaway } from '../support/example-alerts.ts';

const now = Date.UTC(2026, 9, 27, 3);
const everybody = ['finops', 'mail'];

/** A runaway that says that the budget `research` ends above the limit of the example's forecast. */
const runaway: AnomalyFact = {
  ...exampleRunaway,
  notify: [],
  budgets: [
    {
      ...{ name: 'research', period: '2026-10', amount: '5000.000000000000', spent: '4123.000000000000' },
      ...{ expected: '6012.000000000000', stopped: '4949.000000000000' },
    },
  ],
};
const forecast: BudgetAlertFact = { ...exampleForecast, notify: [] };

function alertOf(fact: AlertFact, more: Partial<KnownAlert> = {}): KnownAlert {
  return {
    ...{ key: fact.key, occurrence: 1, isOpen: true, raisedAt: now - 86_400_000, isNotified: true },
    ...{ fact: JSON.stringify(fact), sinks: everybody, acknowledgedUntil: undefined, ...more },
  };
}

function evaluated(facts: readonly AlertFact[], known: readonly KnownAlert[] = []): Transitions {
  return transitionsOf(known, facts, { now, everybody });
}

const told = ({ entries }: Transitions) => entries.map(({ entry }) => [entry.key, entry.transition]);

describe('the forecast of a budget that an anomaly names', () => {
  test('is raised without a message in the evaluation that reports the anomaly', () => {
    const found = evaluated([forecast, runaway]);
    expect(told(found)).toEqual([[runaway.key, 'raised']]);
    expect(found.raised.map(({ key, isNotified }) => [key, isNotified])).toEqual([
      [forecast.key, false],
      [runaway.key, true],
    ]);
  });

  test('is raised without a message in later nights, and to sinks that are added', () => {
    expect(told(evaluated([forecast, runaway], [alertOf(runaway)]))).toEqual([]);
    const open = alertOf(forecast, { isNotified: false });
    expect(told(evaluated([forecast, runaway], [alertOf(runaway), open]))).toEqual([]);
    const fewer = alertOf(forecast, { isNotified: false, sinks: ['finops'] });
    expect(told(evaluated([forecast, runaway], [alertOf(runaway), fewer]))).toEqual([]);
  });

  test('is reported when the anomaly has ended and the budget is still expected to be exceeded', () => {
    const over: AnomalyFact = { ...runaway, state: 'resolved', isOver: true };
    const open = alertOf(forecast, { isNotified: false });
    expect(told(evaluated([forecast, over], [alertOf(runaway), open]))).toEqual([
      [forecast.key, 'raised'],
      [runaway.key, 'resolved'],
    ]);
  });

  test('ends without a message if it was never reported', () => {
    const ended: BudgetAlertFact = { ...forecast, state: 'resolved' };
    const open = alertOf(forecast, { isNotified: false });
    expect(told(evaluated([ended, runaway], [alertOf(runaway), open]))).toEqual([]);
  });
});

test('a forecast that notified nobody refers to an unusual cost only if one goes on', () => {
  const unusual = (forecast.unusual ?? []).map((one) => ({ ...one, isOver: false }));
  expect(isExplainedByAnomaly({ ...forecast, unusual })).toBe(true);
  expect(isExplainedByAnomaly(forecast)).toBe(false);
  expect(isExplainedByAnomaly({ ...forecast, unusual: undefined })).toBe(false);
});

test.each<[string, AlertFact, AlertFact]>([
  ['the anomaly names another budget', forecast, { ...runaway, budgets: [] }],
  ['the anomaly expects less than the threshold', forecast, { ...runaway, budgets: [less('4999')] }],
  ['other people get the anomaly', { ...forecast, notify: ['oncall'] }, runaway],
  ['the anomaly is less severe', forecast, { ...runaway, severity: 'info' }],
  ['somebody called the anomaly intended', forecast, { ...runaway, feedback: calledExpected() }],
  ['the threshold has a command', { ...forecast, run: true }, runaway],
  ['spend has reached the threshold', { ...forecast, of: undefined } as unknown as AlertFact, runaway],
])('a budget is reported beside an anomaly if %s', (_, budget, anomaly) => {
  expect(told(evaluated([budget, anomaly]))).toContainEqual([budget.key, 'raised']);
});

test('a budget is reported beside an anomaly of which nobody was told', () => {
  const silenced = alertOf(runaway, { isNotified: false, acknowledgedUntil: now + 1 });
  expect(told(evaluated([forecast, runaway], [silenced]))).toEqual([[forecast.key, 'raised']]);
});

describe('a budget that was to hold if an anomaly stops, and will be exceeded even then', () => {
  const exceeded: AnomalyFact = { ...runaway, budgets: [{ ...less('6512'), stopped: '5246' }] };
  const [holds, fails] = ['4949', '5246'].map(
    (stopped): BudgetAlertFact => ({ ...forecast, end: { expected: '6012', stopped, spentOn: null } }),
  ) as [BudgetAlertFact, BudgetAlertFact];

  test('is reported once, though the alert of the anomaly named it before', () => {
    const open = alertOf(holds, { isNotified: false });
    const [news] = withBudgetNews([fails], [open]) as [BudgetAlertFact];
    const found = evaluated([news, exceeded], [alertOf(runaway), open]);
    expect(told(found)).toEqual([[forecast.key, 'raised']]);
    // Of an alert that nobody got, no message is the second.
    const second = (from: Transitions) =>
      from.entries.map(({ entry }) => /\d\w\w message/.test(cardOf(entry).notes.join(' ')));
    expect(found.raised.map(({ occurrence }) => occurrence)).toEqual([2]);
    expect(second(found)).toEqual([false]);
    expect(second(evaluated([news], [alertOf(holds)]))).toEqual([true]);
    const reported = alertOf(news, { occurrence: 2 });
    const [same] = withBudgetNews([fails], [reported]) as [BudgetAlertFact];
    expect(told(evaluated([same, exceeded], [alertOf(runaway), reported]))).toEqual([]);
    const [again] = withBudgetNews([holds], [reported]) as [BudgetAlertFact];
    expect(told(evaluated([again, runaway], [alertOf(runaway), alertOf(again)]))).toEqual([]);
    expect(withBudgetNews([fails], [alertOf(again)])).toEqual([news]);
  });

  test('is reported by its own alert again, whose command does not run again', () => {
    const own = alertOf({ ...holds, run: true });
    const [news] = withBudgetNews([{ ...fails, run: true }], [own]) as [BudgetAlertFact];
    const { entries } = evaluated([news], [own]);
    expect(entries.map(({ entry, sinks }) => [entry.key, entry.occurrence, sinks])).toEqual([
      [forecast.key, 2, everybody],
    ]);
  });

  test('is not reported beside a message of the anomaly that says it', () => {
    const worse: AnomalyFact = { ...exceeded, revision: '2026-10-29' };
    const open = alertOf(holds, { isNotified: false });
    const news = withBudgetNews([fails], [open]);
    expect(told(evaluated([...news, worse], [alertOf(runaway), open]))).toEqual([[runaway.key, 'raised']]);
  });
});

function less(expected: string): NonNullable<AnomalyFact['budgets']>[number] {
  const [known] = runaway.budgets ?? [];
  if (known === undefined) throw new Error('expected a budget');
  return { ...known, expected };
}

function calledExpected(): AnomalyFact['feedback'] {
  return (exampleCalled.feedback ?? []).map((one) => ({ ...one, as: 'expected' as const }));
}
