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
} from '../support/every-surface.ts';
import fc from '../support/fast-check.ts';

// Every surface that shows a figure of the catalogue in sql/figures shows the same one, whenever it is asked.

const hourMs = 3_600_000;
/** Hours of the day that are drawn for each shape. */
const hoursDrawn = 6;

describe.each(Object.keys(shapes))('books of %s', (name) => {
  let given: Given;
  beforeAll(async () => {
    given = await booksOf(shapes[name] as (typeof shapes)[string]);
  });

  test('show the figures of the catalogue in reports, exports, statements and messages', async () => {
    const known = await catalogueOf(given.dir, loaded);
    const shown = [...(await shownByReports(given)), ...shownInMessages(given)];
    expect(differences(shown, known)).toEqual([]);
  });

  test('show the figures of the catalogue in terminal, JSON, dashboard and MCP at any hour', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 23 }), async (hours) => {
        const now = loaded + hours * hourMs;
        const shown = await shownAt(given, now);
        expect(differences(shown, await catalogueOf(given.dir, now))).toEqual([]);
      }),
      { numRuns: hoursDrawn, endOnFailure: true },
    );
  });
});
