// Second tier, long: Asks four books at each hour of a day, and for every report of their months; property/every-surface draws some.
import { beforeAll, describe, expect, test } from 'vitest';
import {
  booksOf,
  catalogueOf,
  differences,
  type Given,
  loaded,
  shapes,
  shownAt,
  shownByReports,
  shownInMessages,
  surfaces,
} from '../support/every-surface.ts';

describe.each(Object.keys(shapes))('books of %s', (name) => {
  let given: Given;
  beforeAll(async () => {
    given = await booksOf(name);
  });

  test('show the figures of the catalogue in reports, exports, statements and messages', async () => {
    const shown = [...(await shownByReports(given)), ...shownInMessages(given)];
    expect(new Set(shown.map(({ figure }) => figure)).size).toBeGreaterThan(3);
    expect(differences(shown, await catalogueOf(given.dir, loaded))).toEqual([]);
  });

  test('show the figures of the catalogue on every surface at each hour of a day', async () => {
    const names = Object.keys(surfaces);
    for (let hours = 0; hours < 24; hours += 1) {
      const now = loaded + hours * 3_600_000;
      // Each surface at every fourth hour, in turn.
      const asked = names.filter((_, index) => (index + hours) % 4 === 0);
      const found = differences(await shownAt(given, now, asked), await catalogueOf(given.dir, now));
      expect({ hours, found }).toEqual({ hours, found: [] });
    }
  });
});
