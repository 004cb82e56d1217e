// First tier, long: Asks every surface for every figure at drawn hours.

import { beforeAll, describe, expect, inject, test } from 'vitest';
import { serve } from '../support/dashboard.ts';
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
import { instantText } from '../support/scripted-platform.ts';

// Every surface that shows a figure of the catalogue in sql/figures shows the same one, whenever it is asked.

/** Hours of the day that are drawn for each shape of books, and how many surfaces are asked at each. */
const drawn = { hours: 6, surfaces: 1 };

interface BudgetLine {
  readonly name: string;
  readonly forecast: { readonly value: string } | null;
  readonly end: { readonly expected: string; readonly ifStopped: string | null } | null;
}

/** New seeds are drawn for all books; property/every-surface-at-each-hour asks all of them in the second tier. */
const books = inject('seed') === 1 ? ['restated closed months', 'runaway'] : Object.keys(shapes);

describe.each(books)('books of %s', (name) => {
  let given: Given;
  beforeAll(async () => {
    given = await booksOf(name, name === 'runaway');
  });

  test('have both ends of a budget with costs that are unusual on its page, as costbook budgets has them', async () => {
    const now = instantText(loaded);
    const { budgets } = JSON.parse(await given.run(loaded, 'budgets', '--json')) as { budgets: BudgetLine[] };
    const { get } = await serve(given.dir, ['--now', now]);
    const unusual = budgets.filter(({ end }) => end?.ifStopped != null);
    expect(unusual.length > 0).toBe(name === 'runaway');
    for (const { name: budget, end, forecast } of unusual) {
      const { text } = await get(`/budgets/${budget}?ends=1`);
      const [, section = ''] = /<section id="ends">(.*?)<\/section>/s.exec(text) ?? [];
      const rows = [...section.matchAll(/<tr><td[^>]*>.*?<data value="([^"]*)"/gs)].map(([, value]) => value);
      expect(rows).toEqual([
        ...new Set([end?.expected, ...(forecast === null ? [] : [forecast.value]), end?.ifStopped]),
      ]);
    }
  });

  test('show the figures of the catalogue on every surface at any hour', async () => {
    const hour = fc.integer({ min: 0, max: 23 });
    const names = fc.shuffledSubarray(Object.keys(surfaces), { minLength: drawn.surfaces, maxLength: drawn.surfaces });
    await fc.assert(
      fc.asyncProperty(hour, names, async (hours, asked) => {
        const now = loaded + hours * 3_600_000;
        const shown = await shownAt(given, now, asked);
        expect(differences(shown, await catalogueOf(given, now, shown))).toEqual([]);
      }),
      { numRuns: drawn.hours, endOnFailure: true },
    );
  });
});
