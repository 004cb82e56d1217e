import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { DecodedPage } from '../../src/fetch/decode.ts';
import { openLandingWriter } from '../../src/fetch/landing-writer.ts';
import { detailQuery } from '../../src/fetch/plan/queries.ts';
import { askQuery } from '../../src/fetch/query-pages.ts';
import fc from '../support/fast-check.ts';
import { never, testClient, testEffects } from '../support/http-client.ts';
import { bodyOf, type Group, group, windowOf } from '../support/http-metrics.ts';
import { answer, gzipped, reset, startServer } from '../support/http-server.ts';

const hours = 3;
const query = detailQuery(windowOf(hours));

/** Costs and usages with a few decimals, often zero, sometimes negative. */
const anyAmount = fc.oneof(
  fc.constant(0),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((micros) => micros / 1e6),
);
const anyGroups = fc
  .array(fc.array(fc.tuple(anyAmount, anyAmount), { minLength: hours, maxLength: hours }), { maxLength: 12 })
  .map((all) => all.map((series, index) => group(series, { resourceUuid: `u-${index}` })));
/** How many groups each page takes; what is left comes on a last one. Some pages are empty. */
const anySizes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 });
/** What goes wrong before a page is answered. */
const anyMishaps = fc.array(fc.constantFrom('nothing', 'reset', 'half a body', 'a dead cursor'), { maxLength: 6 });

/** The decoded points and group totals, sorted, each with its group's uuid. */
function told(pages: readonly DecodedPage[]): { points: string[]; totals: string[] } {
  const points: string[] = [];
  const totals: string[] = [];
  for (const { entries, points: columns } of pages) {
    for (const entry of entries) totals.push(`${entry.resourceUuid} ${entry.cost} ${entry.usage}`);
    for (let row = 0; row < columns.count; row += 1) {
      const uuid = entries[columns.entry[row] ?? -1]?.resourceUuid;
      points.push(`${uuid} ${columns.bucket[row]} ${columns.cost[row]} ${columns.usage[row]}`);
    }
  }
  return { points: points.sort(), totals: totals.sort() };
}

/** The same from the groups themselves: amounts have at most six decimals. */
function truth(groups: readonly Group[]): string[] {
  return groups
    .flatMap(({ resourceUuid, timeseries }) =>
      timeseries.map(({ cost, usage }, hour) => {
        const [costMicros, usageMicros] = [Math.round(Number(cost) * 1e6), Math.round(Number(usage) * 1e6)];
        const isPadding = costMicros === 0 && usageMicros === 0;
        return isPadding ? '' : `${resourceUuid} ${hour} ${BigInt(costMicros) * 1_000_000n} ${usageMicros}`;
      }),
    )
    .filter((line) => line !== '')
    .sort();
}

test('for any paging and any errors in transit, the same points and totals arrive', async () => {
  const root = mkdtempSync(join(tmpdir(), 'costbook-pages-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  let pages: Group[][] = [];
  let mishaps: string[] = [];
  let refusedCursors = 0;
  const whole = { totalCost: 0, totalUsage: 0 };
  const server = await startServer((response, request) => {
    const cursor = request.query.get('cursor');
    const number = Number(cursor ?? 0);
    const mishap = mishaps.shift() ?? 'nothing';
    const hasMore = number < pages.length - 1;
    const meta = { hasMore, nextCursor: hasMore ? String(number + 1) : '' };
    const body = bodyOf(hours, pages[number] ?? [], { meta, summary: whole });
    if (mishap === 'reset') return reset(response, request);
    if (mishap === 'half a body') return gzipped(body, 40)(response, request);
    // A query restarts at most three times.
    if (mishap === 'a dead cursor' && cursor !== null && refusedCursors < 3) {
      refusedCursors += 1;
      return answer({ error: 'cursor_expired', code: 410 }, 410)(response, request);
    }
    return number % 2 === 0 ? gzipped(body)(response, request) : answer(body)(response, request);
  });
  const effects = testEffects();
  const client = testClient(server.url, { effects });
  const landing = openLandingWriter(root);

  await fc.assert(
    fc.asyncProperty(anyGroups, anySizes, anyMishaps, async (groups, sizes, wrong) => {
      const rest = [...groups];
      pages = [...sizes.map((size) => rest.splice(0, size)), rest];
      mishaps = [...wrong];
      refusedCursors = 0;
      let handed: DecodedPage[] = [];
      const folder = await landing.begin('acc_one', query.window, 0);
      const count = await askQuery({
        account: 'acc_one',
        query,
        client,
        landing: folder,
        sink: {
          page: (page) => void handed.push(page),
          restart: () => {
            handed = [];
          },
        },
        log: effects.log,
        signal: never(),
      });
      expect(count).toBe(pages.length);
      expect(told(handed).points).toEqual(truth(groups));
      expect(told(handed).totals).toEqual(
        groups
          .map(({ resourceUuid, summary }) => `${resourceUuid} ${plain(summary.cost)} ${plain(summary.usage)}`)
          .sort(),
      );
      // The stored pages contain the same groups, page by page.
      const stored = readdirSync(folder.path)
        .sort()
        .map((file) => readFileSync(join(folder.path, file)))
        .map((bytes) => JSON.parse((bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()).data);
      expect(stored).toEqual(JSON.parse(JSON.stringify(pages)));
    }),
    { numRuns: 60 },
  );
});

/** A sum of a few numbers as decimal text; those of this test need no exponent below 1e-6. */
function plain(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('e')) return text;
  const [digits = '', exponent = '0'] = text.replace(/^-/, '').split('e');
  const decimals = (digits.split('.')[1] ?? '').length - Number(exponent);
  return `${text.startsWith('-') ? '-' : ''}0.${digits.replace('.', '').padStart(decimals, '0')}`;
}
