import { expect, test } from 'vitest';
import { openSharedAnswers } from '../../src/serve/books/shared-answers.ts';

test('viewers who wait for one answer get it one after the other: what else is to do is done between two of them', async () => {
  const answers = openSharedAnswers({ maxAnswers: 10, maxRows: 100 });
  const { signal } = new AbortController();
  const events: string[] = [];
  const viewers = ['first', 'second', 'third'].map(async (viewer) => {
    await answers.get('question', signal, async () => [{ cost: '1' }]);
    events.push(viewer);
    setImmediate(() => events.push('another request'));
  });
  await Promise.all(viewers);
  expect(events.filter((event) => event !== 'another request')).toEqual(['first', 'second', 'third']);
  expect(events.indexOf('another request')).toBeLessThan(events.indexOf('third'));
});
