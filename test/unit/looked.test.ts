import { expect, test } from 'vitest';
import { lookedBefore } from '../../src/serve/looked.ts';

const hour = 3_600_000;
const now = Date.parse('2026-10-04T12:30:00Z');
const at = (hours: number) => Math.floor((now - hours * hour) / 1000);

test.each([
  ['for the first time', undefined, undefined, `.${at(0)}`],
  ['again within a look', `.${at(1)}`, undefined, `.${at(0)}`],
  ['after a pause', `.${at(30)}`, 30, `${at(30)}.${at(0)}`],
  ['again after a pause', `${at(30)}.${at(2)}`, 30, `${at(30)}.${at(0)}`],
  ['after another pause', `${at(90)}.${at(20)}`, 20, `${at(20)}.${at(0)}`],
  ['with a cookie of the future', `${at(30)}.${at(-5)}`, undefined, `.${at(0)}`],
  ['with a cookie of somebody else', 'x=1', undefined, `.${at(0)}`],
])('a browser that looks %s gets the look before', (_, cookie, hoursAgo, expected) => {
  const looked = lookedBefore(cookie, now);
  // The whole hour in which it was.
  const before = hoursAgo === undefined ? undefined : now - hoursAgo * hour - hour / 2;
  expect(looked).toEqual({ before, cookie: expected });
});
