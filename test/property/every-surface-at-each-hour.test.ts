// Second tier, long: Asks four books over the hours of a day, and for every report of their months; property/every-surface draws some.
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
import { casesOf } from '../support/rounds.ts';

describe.each(Object.keys(shapes))('books of %s', (name) => {
  const place = Object.keys(shapes).indexOf(name);
  let given: Given;
  beforeAll(async () => {
    given = await booksOf(name);
  });

  test('show the figures of the catalogue in reports, exports, statements and messages', async () => {
    const shown = [...(await shownByReports(given)), ...shownInMessages(given)];
    expect(new Set(shown.map(({ figure }) => figure)).size).toBeGreaterThan(3);
    expect(differences(shown, await catalogueOf(given, loaded, shown))).toEqual([]);
  });

  test('show the figures of the catalogue on every surface at hours of a whole day', async () => {
    const names = Object.keys(surfaces);
    // Four books are asked at all 24 hours between them; each surface at every fourth of a book's, in turn.
    const steps = casesOf({ fixed: 6, fresh: 12 });
    for (let step = 0; step < steps; step += 1) {
      const hours = (24 / steps) * step + (place % (24 / steps));
      const now = loaded + hours * 3_600_000;
      const asked = names.filter((_, index) => (index + step + place) % 4 === 0);
      const shown = await shownAt(given, now, asked);
      const found = differences(shown, await catalogueOf(given, now, shown));
      expect({ hours, found }).toEqual({ hours, found: [] });
    }
  });
});
