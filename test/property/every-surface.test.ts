// First tier, long: Asks every surface for every figure at drawn hours.

import { beforeAll, describe, expect, test } from 'vitest';
import {
  booksOf,
  catalogueOf,
  differences,
  type Given,
  loaded,
  shapes,
  shownAt,
  surfaces,
} from '../support/every-surface.ts';
import fc from '../support/fast-check.ts';

// Every surface that shows a figure of the catalogue in sql/figures shows the same one, whenever it is asked.

/** Hours of the day that are drawn for each shape of books, and how many surfaces are asked at each. */
const drawn = { hours: 6, surfaces: 1 };

describe.each(Object.keys(shapes))('books of %s', (name) => {
  let given: Given;
  beforeAll(async () => {
    given = await booksOf(name, name === 'two days');
  });

  test('show the figures of the catalogue on every surface at any hour', async () => {
    const hour = fc.integer({ min: 0, max: 23 });
    const names = fc.shuffledSubarray(Object.keys(surfaces), { minLength: drawn.surfaces, maxLength: drawn.surfaces });
    await fc.assert(
      fc.asyncProperty(hour, names, async (hours, asked) => {
        const now = loaded + hours * 3_600_000;
        expect(differences(await shownAt(given, now, asked), await catalogueOf(given, now))).toEqual([]);
      }),
      { numRuns: drawn.hours, endOnFailure: true },
    );
  });
});
