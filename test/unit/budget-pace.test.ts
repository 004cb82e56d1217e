import { describe, expect, test } from 'vitest';
import type { UnusualCost } from '../../src/alerts/alert-fact.ts';
import { budgetPace } from '../../src/alerts/budget-pace.ts';

function pace(value: string, completeThrough: string | null, amount = '3000', unusual: UnusualCost[] = []) {
  const { sentence = '', next = 'act' } = budgetPace({
    ...{ value, amount, completeThrough, unusual },
    ...{ periodStart: '2026-11-01T00:00:00Z', periodEnd: '2026-12-01T00:00:00Z' },
  });
  return `${sentence} ${next}`;
}

describe('a budget whose threshold is reached', () => {
  test('and whose pace keeps to it needs no action', () => {
    expect(pace('1500', '2026-11-17T00:00:00Z')).toMatch(/^53\.3 % .* about 2,813 USD, .* No action is needed yet\.$/);
  });

  test('and that is spent before its end at this pace says when, and asks for action', () => {
    expect(pace('1500', '2026-11-09T00:00:00Z')).toMatch(
      /^26\.7 % .* spent around the 17th, and the period ends at about 5,625 USD\. act$/,
    );
  });

  test('and is exceeded says by how much, exactly', () => {
    expect(pace('3000.01', '2026-11-21T00:00:00Z')).toMatch(/^It is 0\.01 USD over .* about 4,500 USD\. act$/);
    expect(pace('3000', '2026-11-21T00:00:00Z')).toMatch(/^At this pace it ends at about 4,500 USD\. act$/);
    expect(pace('3000.01', '2026-12-01T00:00:00Z')).toMatch(
      /^It is 0\.01 USD over its budget\. The period is over\. act$/,
    );
  });

  test('and whose period is over below its amount needs no action', () => {
    expect(pace('2999.99', '2026-12-01T00:00:00Z')).toMatch(/stayed within the budget\. No action is needed\.$/);
    expect(pace('2999.99', '2026-12-05T00:00:00Z')).toMatch(/stayed within the budget\. No action is needed\.$/);
  });

  test('says nothing of its pace before its first complete hour, and asks for action', () => {
    expect(pace('1500', null)).toBe(' act');
    expect(pace('1500', '2026-11-01T00:00:00Z')).toBe(' act');
  });

  test('of an amount of 0 is exceeded', () => {
    expect(pace('1', '2026-11-20T00:00:00Z', '0')).toMatch(/^It is 1\.00 USD over/);
  });

  const runaway = {
    ...{ key: 'anomaly/x', subject: 'demo-analyst', firstDay: '2026-11-15', lastDay: '2026-11-21', isOver: false },
    ...{ impact: '544', daily: '90' },
  };

  test('says where it ends if an anomaly goes on, and if it stops now', () => {
    // 60 USD of usual costs in 21 days are 86 in 30; 544 are there, and nine more days are 810.
    expect(pace('604', '2026-11-22T00:00:00Z', '600', [runaway])).toMatch(
      /^It is 4\.00 USD over its budget\. If demo-analyst goes on like this, .* about 1,440 USD; .* about 630 USD\. act$/,
    );
    expect(pace('604', '2026-11-22T00:00:00Z', '1000', [runaway])).toMatch(
      /goes on like this, the budget is spent around the 26th, and the period ends at about 1,440 USD; .* 630 USD, within the budget\. act$/,
    );
  });

  test('counts the days of an anomaly that began before the period once', () => {
    // Of 604 USD in 21 days, 420 are unusual: 184 of usual costs are 263 in 30 days, and 30 days of the anomaly are 600.
    const early = { ...runaway, firstDay: '2026-10-20', impact: '640', daily: '20' };
    expect(pace('604', '2026-11-22T00:00:00Z', '900', [early])).toMatch(/the period ends at about 863 USD;/);
    expect(pace('604', '2026-11-22T00:00:00Z', '900', [early])).toContain('if it stopped now, at about 683 USD');
  });

  test('does not go on with an anomaly that has ended', () => {
    const ended = { ...runaway, isOver: true, daily: null };
    expect(pace('604', '2026-11-22T00:00:00Z', '700', [ended])).toMatch(/ends at about 630 USD, within .* No action/);
    // What began before the period is not part of its spend.
    const early = { ...ended, firstDay: '2026-10-30' };
    expect(pace('604', '2026-11-22T00:00:00Z', '700', [early])).toMatch(/about 863 USD\. act$/);
  });

  test('and that ends close to its amount says that little is left', () => {
    expect(pace('1500', '2026-11-16T00:00:00Z', '3050')).toMatch(
      /about 3,000 USD, close to the budget\. No action is needed yet, but little is left\.$/,
    );
  });
});
