import { describe, expect, test } from 'vitest';
import { budgetPace } from '../../src/alerts/budget-pace.ts';

function pace(value: string, completeThrough: string | null, amount = '3000') {
  const { sentence = '', next = 'act' } = budgetPace({
    ...{ value, amount, completeThrough },
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
});
