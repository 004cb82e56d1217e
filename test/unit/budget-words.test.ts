import { describe, expect, test } from 'vitest';
import { forecastWords, spentBudgetWords } from '../../src/findings/budget-words.ts';
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
    expect(next?.words).toMatch(
      /^check .* and save about 1,012 USD in 2026-10, or raise .* to at least about 6,012 USD in jobs/,
    );
    expect(title).toContain('about 1,012 USD over its 5,000.00 USD');
  });

  test('is to raise the budget, if most of what is still to come would have to be saved', () => {
    const { next } = forecastWords({ ...exampleForecast, value: '4900', unusual: undefined }, forecast);
    expect(next?.words).toMatch(
      /^raise .* to at least about 6,012 USD in jobs\/budgets.yaml \(limits: \{ 2026-10: 6020 USD \}\), or accept the excess.$/,
    );
    expect(forecastWords({ ...exampleForecast, value: '4800', unusual: undefined }, forecast).next?.words).toMatch(
      /^raise .* To stay within it instead, save about 1,012 USD of the about 1,212 USD still to come/,
    );
  });

  test('is to accept or to raise, but not to stop, if the excess comes from what has ended', () => {
    const ended = {
      ...{ key: 'a', subject: 'training-lab', firstDay: '2026-10-12', lastDay: '2026-10-14', isOver: true },
      ...{ impact: '1500', daily: null },
    };
    const { next } = forecastWords({ ...exampleForecast, unusual: [ended], end: undefined }, forecast);
    expect(next?.words).toMatch(/^accept the excess, or raise .* about 6,012 USD .* training-lab, which has ended/);
  });

  test('names what can still be lowered, and not more than that, once the budget is exceeded', () => {
    const spent = { ...exampleForecast, value: '5500', unusual: undefined };
    expect(spentBudgetWords(spent).next?.words).toMatch(
      /^check the largest costs, .*: about 512 USD more will be spent in 2026-10 if nothing changes\. .* at least about 6,012 USD/,
    );
    expect(spentBudgetWords(spent).next?.words).not.toContain('1,012');
  });

  test('raises the budget of later periods, once the period is over', () => {
    const over = { ...exampleForecast, value: '5500', unusual: undefined, completeThrough: exampleForecast.periodEnd };
    expect(spentBudgetWords(over).next?.words).toMatch(/raise the budget for later periods .*2026-10 is over/);
  });

  test('names the file that has the amount', () => {
    const fact = { ...exampleForecast, value: '5500', unusual: undefined, amountFile: 'jobs/finance.csv' };
    expect(spentBudgetWords(fact).next?.words).toContain('in jobs/finance.csv');
    expect(spentBudgetWords(fact).next?.words).not.toContain('budgets.yaml');
  });

  test('says not to add up the savings in a budget and in a part of it', () => {
    const { next } = forecastWords({ ...exampleForecast, unusual: undefined, contains: ['production'] }, forecast);
    expect(next?.words).toMatch(/saved in budget production counts here too: do not add up their amounts\.$/);
    const many = { ...exampleForecast, unusual: undefined, contains: ['a', 'b'], containsMore: 2998 };
    expect(forecastWords(many, forecast).next?.words).toMatch(/budgets a, b and 2998 more counts here too/);
  });

  test('says what to do about the part that stays over when what runs away is stopped', () => {
    const running = {
      ...{ key: 'a', subject: 'training-lab', firstDay: '2026-10-12', lastDay: '2026-10-14', isOver: false },
      ...{ impact: '500', daily: '90' },
    };
    const end = { expected: '6012', stopped: '5300', spentOn: null };
    const { next } = spentBudgetWords({ ...exampleForecast, unusual: [running], end });
    expect(next?.words).toMatch(
      /stop it .* not enough: save about 300 USD elsewhere, or raise .* at least about 5,300 USD/,
    );
    expect(next?.words).toMatch(/If its cost is intended, raise .* at least about 6,012 USD/);
    const late = spentBudgetWords({ ...exampleForecast, value: '5200', unusual: [running], end });
    expect(late.next?.words, 'only 100 USD are to come').toMatch(
      /not enough: raise .* 5,300 USD .*, or accept the excess\./,
    );
    const kept = spentBudgetWords({ ...exampleForecast, unusual: [running], end: { ...end, stopped: '4900' } });
    expect(kept.next?.words).not.toContain('not enough');
  });

  test('has no amount to raise to for a cost per unit, which has no end', () => {
    const per = { name: 'order', count: '100', cost: '5000', through: '2026-10-20' };
    const { next } = spentBudgetWords({ ...exampleForecast, unusual: undefined, per, unit: 'USD per order' });
    expect(next?.words).not.toMatch(/at least/);
  });
});

describe('the forecast of a period that has just begun', () => {
  test('is compared with a day of the period before without its unusual costs', () => {
    const { fields = [] } = forecastWords({ ...begun, previous }, forecast);
    const text = fields.find(({ label }) => label === 'Period before')?.value;
    expect(text).toContain('of which 600.00 USD were unusual and have ended');
    expect(text).toMatch(
      /the rest is 180\.00 USD a day, and the forecast for 2026-10 is 193\.95 USD a day \(\+7\.7 %\)/,
    );
    expect(text).not.toContain('6.95');
  });

  test('marks the largest costs of the period before that have ended', () => {
    const driver = { account: 'a', workspace: 'w', resourceType: 'agent', resourceUuid: null, cost: '700' };
    const drivers = ['demo-analyst', 'other'].map((resourceName) => ({ ...driver, resourceName }));
    const { list } = forecastWords({ ...begun, previous: { ...previous, drivers } }, forecast);
    expect(list?.items.map((item) => item.includes('of which 600.00 USD unusual, has ended'))).toEqual([true, false]);
  });

  test('says what of its spend is in hours that are not complete', () => {
    const spent = (more: object) =>
      forecastWords({ ...begun, ...more }, forecast).fields?.find(({ label }) => label === 'Spent')?.value;
    expect(spent({})).toBe('6.95 USD');
    expect(spent({ incomplete: '6.95' })).toBe('6.95 USD, all in hours that are not complete yet');
    expect(spent({ incomplete: '1.5' })).toBe('6.95 USD, of which 1.50 USD in hours that are not complete yet');
  });

  test('says that the amount may still be kept if the interval begins below it', () => {
    const text = (low: string) => forecastWords(begun, { ...forecast, low }).sentences.join(' ');
    expect(text('4900')).toContain('it may still stay within the budget');
    expect(text('5100')).not.toContain('may still');
  });
});
