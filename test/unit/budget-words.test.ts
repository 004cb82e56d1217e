import { describe, expect, test } from 'vitest';
import { forecastWords, spentBudgetWords } from '../../src/alerts/budget-words.ts';
import { exampleForecast } from '../support/example-alerts.ts';

const forecast = exampleForecast.forecast;
if (!forecast) throw new Error('the example has a forecast');
const begun = {
  ...exampleForecast,
  ...{ value: '6.95', completeThrough: exampleForecast.periodStart, unusual: undefined, end: undefined },
};
const previous = { period: '2026-09', value: '6000', unusual: '600', days: 30, ended: ['demo-analyst'], drivers: [] };

describe('what to do about a budget that is expected to be exceeded', () => {
  test('names the amount to save, and the amount to raise the budget to', () => {
    const { next, title } = forecastWords({ ...exampleForecast, unusual: undefined }, forecast);
    expect(next).toMatch(/^Act: save about 1,012 USD in 2026-10, or raise .* to at least about 6,012 USD in jobs/);
    expect(title).toContain('about 1,012 USD over its 5000.00 USD');
  });

  test('is to accept or to raise, but not to stop, if the excess comes from what has ended', () => {
    const ended = {
      ...{ key: 'a', subject: 'training-lab', firstDay: '2026-10-12', lastDay: '2026-10-14', isOver: true },
      ...{ impact: '1500', daily: null },
    };
    const { next } = forecastWords({ ...exampleForecast, unusual: [ended], end: undefined }, forecast);
    expect(next).toMatch(/^Act: accept the excess, or raise .* about 6,012 USD .* training-lab, which has ended/);
  });

  test('has no amount to raise to for a cost per unit, which has no end', () => {
    const per = { name: 'order', count: '100', cost: '5000', through: '2026-10-20' };
    const { next } = spentBudgetWords({ ...exampleForecast, unusual: undefined, per, unit: 'USD per order' });
    expect(next).not.toMatch(/at least/);
  });
});

describe('the forecast of a period that has just begun', () => {
  test('is compared with a day of the period before without its unusual costs', () => {
    const { sentences } = forecastWords({ ...begun, previous }, forecast);
    const text = sentences.join(' ');
    expect(text).toContain('of which 600.00 USD were unusual and have ended');
    expect(text).toMatch(/The rest is 180\.00 USD a day; the forecast for 2026-10 is 193\.95 USD a day \(\+7\.7 %\)/);
    expect(text).not.toContain('6.95');
  });

  test('marks the largest costs of the period before that have ended', () => {
    const driver = { account: 'a', workspace: 'w', resourceType: 'agent', resourceUuid: null, cost: '700' };
    const drivers = ['demo-analyst', 'other'].map((resourceName) => ({ ...driver, resourceName }));
    const { list } = forecastWords({ ...begun, previous: { ...previous, drivers } }, forecast);
    expect(list?.items.map((item) => item.includes('has ended'))).toEqual([true, false]);
  });

  test('says that the amount may still be kept if the interval begins below it', () => {
    const text = (low: string) => forecastWords(begun, { ...forecast, low }).sentences.join(' ');
    expect(text('4900')).toContain('it may still stay within the budget');
    expect(text('5100')).not.toContain('may still');
  });
});
