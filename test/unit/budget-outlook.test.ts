import { describe, expect, test } from 'vitest';
import { noAction } from '../../src/base/next-step.ts';
import type { BudgetEnd, UnusualCost } from '../../src/findings/budget-fact.ts';
import { budgetOutlook } from '../../src/findings/budget-outlook.ts';

interface Asked {
  readonly value: string;
  readonly amount?: string;
  readonly completeThrough?: string | null;
  readonly unit?: string;
  readonly unusual?: UnusualCost[];
  readonly end?: BudgetEnd;
}

function outlook({ value, amount = '3000', completeThrough = '2026-11-17T00:00:00Z', ...others }: Asked) {
  return budgetOutlook({
    ...{ value, amount, completeThrough, period: '2026-11', ...others },
    ...{ periodStart: '2026-11-01T00:00:00Z', periodEnd: '2026-12-01T00:00:00Z' },
  });
}

const endsAt = (expected: string, stopped: string | null = null, spentOn: string | null = null): BudgetEnd => ({
  ...{ expected, stopped, spentOn },
});

describe('a budget whose threshold is reached', () => {
  test('and that is expected to end within its amount is on course and needs no action', () => {
    const { short, sentences, next } = outlook({ value: '1500', end: endsAt('2813') });
    expect([short, next]).toEqual(['on course', noAction()]);
    expect(sentences.join(' ')).toMatch(/^53\.3 % of .* about 2,813 USD, within its budget\.$/);
  });

  test('and that is expected to end just below its amount says that little is left', () => {
    const { short, next } = outlook({ value: '1500', amount: '3050', end: endsAt('3000') });
    expect(short).toContain('close');
    expect(next).toEqual(noAction('50.8 % of the budget is left.'));
  });

  test('and that is expected to end above its amount says by how much, and when it is spent', () => {
    const { short, sentences, next } = outlook({ value: '1500', end: endsAt('5625', null, '2026-11-17') });
    expect([short, next]).toEqual(['about 2,625 USD over at the end', undefined]);
    expect(sentences.join(' ')).toMatch(/about 5,625 USD\. The budget is spent around 17 Nov\.$/);
  });

  test('and is exceeded says by how much, exactly', () => {
    const { short, sentences, next } = outlook({ value: '3000.01', end: endsAt('4500') });
    expect([short, next]).toEqual(['about 1,500 USD over at the end', undefined]);
    expect(sentences[0]).toMatch(/^It is 0\.01 USD over/);
    const over = outlook({ value: '3000.01', completeThrough: '2026-12-01T00:00:00Z' });
    expect(over.sentences.join(' ')).toMatch(
      /^It is 0\.01 USD over its budget\. The period is over\. .* until it is settled\.$/,
    );
  });

  test('and whose period is over below its amount needs no action', () => {
    const { sentences, next } = outlook({ value: '2999.99', completeThrough: '2026-12-05T00:00:00Z' });
    expect(sentences[0]).toMatch(/stayed within the budget\.$/);
    expect(next).toEqual(noAction());
  });

  test('says nothing of an end that nobody knows, and asks for action', () => {
    expect(outlook({ value: '1500', completeThrough: null })).toEqual({
      ...{ short: undefined, sentences: [], next: undefined },
    });
  });

  test('is told in its own unit', () => {
    const { short } = outlook({ value: '1500', unit: 'GB-hours', end: endsAt('5625') });
    expect(short).toBe('about 2,625 GB-hours over at the end');
  });
});

describe('a budget with an anomaly that goes on', () => {
  const runaway: UnusualCost = {
    ...{ key: 'anomaly/x', subject: 'demo-analyst', firstDay: '2026-11-15', lastDay: '2026-11-21', isOver: false },
    ...{ impact: '544', daily: '90' },
  };
  const sentence = (amount: string, end: BudgetEnd) =>
    outlook({ value: '604', amount, unusual: [runaway], end }).sentences.at(-1);

  test('says in its title where it ends in both cases', () => {
    const short = (amount: string) =>
      outlook({ value: '604', amount, unusual: [runaway], end: endsAt('1440', '630') }).short;
    expect(short('600')).toBe('about 630 USD at the end if demo-analyst stops now, about 1,440 USD if it continues');
    expect(short('1000')).toBe(short('600'));
  });

  test('says where it ends if it goes on, and if it stops now', () => {
    expect(sentence('600', endsAt('1440', '630'))).toMatch(
      /^2026-11 will end at about 630 USD if demo-analyst stops now \(costs through 2026-11-17T00:00:00Z\), about 1,440 USD if it continues\.$/,
    );
    expect(sentence('620', endsAt('1440', '630'))).toMatch(/will exceed its budget either way: /);
    expect(sentence('1000', endsAt('1440', '630', '2026-11-26'))).toMatch(
      /only if demo-analyst continues: .* about 630 USD if it stops now \(costs through 2026-11-17T00:00:00Z\)\. If it continues, the budget is spent around 26 Nov\.$/,
    );
    expect(sentence('2000', endsAt('1440', '630'))).toMatch(/within its budget either way: /);
  });
});
