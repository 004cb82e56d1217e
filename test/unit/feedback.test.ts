import { describe, expect, test } from 'vitest';
import { type Episode, episodesBefore, follow } from '../../src/anomalies/detect.ts';
import {
  barOf,
  barOfScope,
  barOn,
  barsInForce,
  fixedSince,
  type StoredFeedback,
} from '../../src/anomalies/feedback.ts';
import { feedbackSentences } from '../../src/anomalies/feedback-words.ts';
import { noticesOf } from '../../src/anomalies/notices.ts';
import { usualRules } from '../../src/anomalies/rules.ts';
import { dayName, dayNamed } from '../../src/time/time.ts';

const scope = { account: 'acc_one', workspace: 'north', resourceType: 'agent', billingDimension: 'agent_requests' };
const firstDay = dayNamed('2026-06-01');
/** The sixty-first day: the first after those at the level. */
const start = firstDay + 60;
const day = (place: number) => dayName(start + place);

function said(feedback: StoredFeedback['feedback'], from: number, more: Partial<StoredFeedback> = {}): StoredFeedback {
  const givenAt = `${day(from)}T09:00:00Z`;
  const event = { anomalyKey: 'k', scope, isUp: true, largestCost: '300.000000000000' };
  return { ...event, feedback, appliesFrom: day(from), givenAt, ...more };
}

describe('the bar', () => {
  test('is 1.2 times the largest day of a higher cost that was expected or false, exactly', () => {
    expect(barOf(said('expected', 0, { largestCost: '88.930000000005' }))).toBe('106.716000000006');
    expect(barOf(said('false', 0))).toBe('360.000000000000');
  });

  test('is not raised by what was fixed or taken back, by lower costs or by credits', () => {
    expect(barOf(said('fixed', 0))).toBeNull();
    expect(barOf(said('none', 0))).toBeNull();
    expect(barOf(said('expected', 0, { isUp: false }))).toBeNull();
    expect(barOf(said('expected', 0, { largestCost: '-3.000000000000' }))).toBeNull();
    expect(barOfScope([said('fixed', 0)])).toBeUndefined();
  });

  test('applies from its day on, until it is taken back or replaced; earlier days keep theirs', () => {
    const bar = barOfScope([
      said('expected', 1),
      said('false', 3, { largestCost: '200' }),
      said('none', 5),
      said('expected', 6, { anomalyKey: 'other', largestCost: '10' }),
    ]);
    expect([0, 1, 2, 3, 4, 5, 6].map((place) => bar?.(start + place))).toEqual([
      undefined,
      ...[360, 360, 240, 240],
      undefined,
      12,
    ]);
  });

  test('is the highest of a scope, with the feedback that raised it', () => {
    const all = [
      said('expected', 1),
      said('false', 2, { anomalyKey: 'larger', largestCost: '500' }),
      said('expected', 2, { anomalyKey: 'elsewhere', scope: { ...scope, workspace: 'south' } }),
    ];
    expect(barOn(all, scope, day(1))?.key).toBe('k');
    expect(barOn(all, scope, day(2))).toMatchObject({ key: 'larger', as: 'false', bar: '600.000000000000' });
    expect(barsInForce(all).map(({ key, bar }) => [key, bar])).toEqual([
      ['larger', '600.000000000000'],
      ['elsewhere', '360.000000000000'],
    ]);
    expect(barsInForce([...all, said('none', 3, { anomalyKey: 'larger' })])[0]?.key).toBe('k');
  });
});

/** Sixty days of 100 USD, and others after them. */
function seriesOf(later: readonly number[]) {
  const costs = [...new Array<number>(60).fill(100), ...later];
  return { firstDay, costs, usages: costs };
}

function followed(later: readonly number[], feedback: readonly StoredFeedback[] = []): readonly Episode[] {
  const to = start + later.length - 1;
  const rules = { isQuiet: () => false, rules: usualRules, bar: barOfScope(feedback) };
  return follow(seriesOf(later), [], { from: firstDay, to }, rules);
}

/** Which episode begins on which day, and is reported on which. */
function reported(later: readonly number[], feedback: readonly StoredFeedback[] = []) {
  return followed(later, feedback).map(({ firstDay: first, notifiedDay }) => [
    first - start,
    notifiedDay === undefined ? undefined : notifiedDay - start,
  ]);
}

function notices(later: readonly number[], feedback: readonly StoredFeedback[] = []): string[] {
  return followed(later, feedback).flatMap((episode) =>
    noticesOf(episode, usualRules, undefined, fixedSince(feedback, 'k')).map(
      ({ day: of, reason }) => `${of - start} ${reason}`,
    ),
  );
}

const many = (count: number, cost: number) => new Array<number>(count).fill(cost);

describe('after a runaway of 300 USD that was called expected', () => {
  // Nine days later, which is no pattern of the calendar.
  const again = (cost: number) => [300, ...many(8, 100), cost, 100, 100];

  test.each(['expected', 'false'] as const)(
    'as %s, the same size is silent, and 1.3 times as large is reported',
    (as) => {
      expect(reported(again(300))).toEqual([
        [0, 0],
        [9, 9],
      ]);
      expect(reported(again(300), [said(as, 1)])).toEqual([
        [0, 0],
        [9, undefined],
      ]);
      expect(reported(again(360), [said(as, 1)]).at(1)).toEqual([9, undefined]);
      // 1.3 times as large is no longer the same to the rule about recurring peaks either.
      expect(reported(again(391), [said(as, 1)]).at(1)).toEqual([9, 9]);
    },
  );

  test('a runaway at the bar that grows is reported on its first day above it', () => {
    const growing = [300, ...many(8, 100), 310, 320, 400, 410, 100, 100];
    expect(reported(growing, [said('expected', 1)]).at(1)).toEqual([9, 11]);
    expect(followed(growing, [said('expected', 1)]).at(1)).toMatchObject({
      heldDays: [start + 9, start + 10],
      aboveDays: [start + 11, start + 12],
    });
  });

  test('days before the feedback are not judged again, nor days after it was taken back', () => {
    expect(reported(again(300), [said('expected', 10)]).at(1)).toEqual([9, 9]);
    expect(reported(again(300), [said('expected', 1), said('none', 5)]).at(1)).toEqual([9, 9]);
  });

  test('a runaway that stays silent is reported once the feedback is taken back', () => {
    const lasting = [300, ...many(8, 100), ...many(6, 300)];
    expect(reported(lasting, [said('expected', 1)]).at(1)).toEqual([9, undefined]);
    expect(reported(lasting, [said('expected', 1), said('none', 12)]).at(1)).toEqual([9, 12]);
  });

  test('a lower cost is reported as before', () => {
    const lower = [300, ...many(8, 100), ...many(3, 0)];
    expect(reported(lower, [said('expected', 1)])).toEqual(reported(lower));
  });

  test('nights one by one find the same as all days at once', () => {
    const later = [300, ...many(8, 100), 310, 320, 400, 410, 100, 100, 100, 300, 300, 100];
    const feedback = [said('expected', 1), said('none', 14)];
    const rules = { isQuiet: () => false, rules: usualRules, bar: barOfScope(feedback) };
    let known: readonly Episode[] = [];
    for (let to = start; to < start + later.length; to += 1) {
      // Each night evaluates the day before again, as after a restatement.
      const from = Math.max(start, to - 1);
      known = follow(seriesOf(later), episodesBefore(known, from), { from, to }, rules);
    }
    const plain = (episodes: readonly Episode[]) => JSON.parse(JSON.stringify(episodes)) as object[];
    const withDays = (episode: object) => ({ heldDays: [], aboveDays: [], ...episode });
    expect(plain(known).map(withDays)).toEqual(plain(followed(later, feedback)).map(withDays));
  });
});

describe('the messages about a higher level', () => {
  const lasting = many(12, 300);

  test('stop after expected: it is learned as usual', () => {
    expect(notices(lasting).length).toBeGreaterThan(1);
    expect(notices(lasting, [said('expected', 1)])).toEqual(['0 first']);
  });

  test('go on once if a day is above the bar', () => {
    const higher = [300, 300, 300, 370, 380, 300, 390];
    expect(notices(higher, [said('expected', 1)])).toEqual(['0 first', '3 worse']);
  });

  test('go on once after fixed if it still costs more, and then as usual', () => {
    const small = many(12, 140);
    expect(notices(small)).toEqual(['0 first', '2 continues', '9 reminder']);
    expect(notices(small, [said('fixed', 4)])).toEqual(['0 first', '2 continues', '4 unfixed', '11 reminder']);
    expect(notices([140, 140, 140, 100, 100, 100], [said('fixed', 4)])).toEqual(
      notices([140, 140, 140, 100, 100, 100]),
    );
  });

  test('are those of before if the feedback is taken back before its day', () => {
    expect(notices(lasting, [said('fixed', 4), said('none', 4)])).toEqual(notices(lasting));
  });
});

describe('the words of feedback', () => {
  const given = { key: 'k', givenAt: '2026-10-25T09:00:00Z', appliesFrom: '2026-10-26', largestCost: '100' };
  const fact = { lastDay: '2026-10-24', isOver: false };
  const bar = '120.000000000000';

  test('say what was said, when, and what follows', () => {
    expect(feedbackSentences(fact)).toEqual([]);
    const words = (as: 'expected' | 'fixed' | 'false', more: object = {}) =>
      feedbackSentences({ ...fact, feedback: [{ ...given, as, bar: as === 'fixed' ? null : bar }], ...more })[0];
    expect(words('expected')).toBe(
      'Somebody called it expected on 25 Oct. Costbook reports a day of it only above 120.00 USD.',
    );
    expect(words('fixed')).toBe(
      'Somebody called it fixed on 25 Oct. If it still costs more on 26 Oct or later, Costbook reports it again.',
    );
    expect(words('fixed', { lastDay: '2026-10-26' })).toBe(
      'Somebody called it fixed on 25 Oct, but it still costs more.',
    );
    expect(words('fixed', { lastDay: '2026-10-26', isOver: true })).toBe('Somebody called it fixed on 25 Oct.');
    expect(words('false', { feedback: [{ ...given, as: 'false', bar: null }] })).toBe(
      'Somebody called it false on 25 Oct.',
    );
  });

  test('count the parts of one message', () => {
    const part = (key: string, more = {}) => ({ key, workspace: 'research', ...more }) as never;
    const parts = [part('k', { driver: 'crawler' }), part('l', { billingDimension: 'model_runtime_gbs' }), part('m')];
    const expected = { ...given, as: 'expected', bar } as const;
    expect(feedbackSentences({ ...fact, parts, feedback: [expected, { ...expected, key: 'l', bar: '7.2' }] })).toEqual([
      'Somebody called 2 of its 3 parts expected on 25 Oct. Costbook reports a day of a part only above its limit: 120.00 USD for crawler and 7.20 USD for model_runtime_gbs in research.',
    ]);
    const fixed = { ...given, key: 'l', as: 'fixed', bar: null } as const;
    expect(feedbackSentences({ ...fact, parts, feedback: [expected, fixed, { ...expected, key: 'm' }] })).toEqual([
      'Somebody gave feedback on it: 2 parts are expected, 1 part is fixed.',
    ]);
  });
});
