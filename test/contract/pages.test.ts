import { afterEach, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { allPages, askMetrics, metrics, now, useEmulator } from './platform.ts';

const platform = useEmulator();
const week = 'startTime=2026-10-05T00:00:00Z&endTime=2026-10-12T00:00:00Z';
const byResource = `${week}&groupBy=resource_name,resource_uuid,billing_dimension`;
const dayMs = 86_400_000;

describe('pages (4.6, 2.15, 8)', () => {
  test('a page has 100 groups by default', async () => {
    const emulator = await startEmulator({ now: () => now, resources: 200 });
    const pages = await allPages(emulator, byResource);
    await emulator.close();
    expect(pages.slice(0, -1).every(({ data }) => data.length === 100)).toBe(true);
    expect(pages.length).toBeGreaterThan(2);
  });

  test('larger limits are silently clamped to 100', async () => {
    const emulator = await startEmulator({ now: () => now, resources: 120 });
    const { data, meta } = await metrics(emulator, `${byResource}&limit=5000`);
    await emulator.close();
    expect(data).toHaveLength(100);
    expect(meta.hasMore).toBe(true);
  });

  test.each(['0', '-1', '1.5', 'ten', '1e2', ''])('limit=%s is refused', async (limit) => {
    const { status, body } = await askMetrics(platform.current, `${byResource}&limit=${limit}`);
    expect(status).toBe(400);
    expect(body.message).toContain('limit');
  });

  test('hasMore is true and nextCursor is set until the last page, where nextCursor is empty', async () => {
    const pages = await allPages(platform.current, `${byResource}&limit=30`);
    for (const { meta } of pages.slice(0, -1)) {
      expect(meta.hasMore).toBe(true);
      expect(meta.nextCursor).not.toBe('');
    }
    expect(pages.at(-1)?.meta).toEqual({ hasMore: false, nextCursor: '' });
  });

  test('pages of any size have the same entries in the same order, without repeats', async () => {
    const whole = (await metrics(platform.current, byResource)).data;
    for (const limit of [7, 29, 100]) {
      const pages = await allPages(platform.current, `${byResource}&limit=${limit}`);
      expect(pages.flatMap(({ data }) => data)).toEqual(whole);
    }
  });

  test('an exactly full last page has no next page', async () => {
    const { data } = await metrics(platform.current, byResource);
    const full = await metrics(platform.current, `${byResource}&limit=${data.length}`);
    expect(full.meta).toEqual({ hasMore: false, nextCursor: '' });
  });

  test('totalCost covers the whole window on every page', async () => {
    const pages = await allPages(platform.current, `${byResource}&limit=30`);
    expect(new Set(pages.map(({ summary }) => summary.totalCost)).size).toBe(1);
    expect(pages[0]?.summary.totalCost).toBe((await metrics(platform.current, week)).summary.totalCost);
  });

  test('an answer without groupBy has one page', async () => {
    expect((await metrics(platform.current, `${week}&limit=1`)).meta).toEqual({ hasMore: false, nextCursor: '' });
  });
});

describe('cursors (4.1, 4.6, 7.4)', () => {
  let clock = now;
  let emulator: Emulator | undefined;
  afterEach(async () => {
    await emulator?.close();
    emulator = undefined;
    clock = now;
  });

  async function cursorOf(query: string): Promise<string> {
    return (await metrics(platform.current, query)).meta.nextCursor;
  }

  test.each([
    ['another window', byResource.replace('2026-10-05', '2026-10-06')],
    ['another filter', `${byResource}&resourceType=agent`],
    ['another grouping', `${week}&groupBy=resource_name,resource_uuid`],
    ['another resolution', `${byResource}&resolution=hourly`],
  ])('a cursor is rejected with %s', async (_, query) => {
    const cursor = await cursorOf(`${byResource}&limit=10`);
    const { status, body } = await askMetrics(platform.current, `${query}&limit=10&cursor=${cursor}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'invalid_cursor', code: 400 });
  });

  test('a cursor belongs to the query, not to its notation or page size', async () => {
    const cursor = await cursorOf(`${byResource}&limit=10`);
    const rewritten =
      'groupBy=billing_dimension,resource_uuid,resource_name&endTime=2026-10-12T00:00:00.000Z&startTime=2026-10-05T00:00:00Z';
    const page = await metrics(platform.current, `${rewritten}&resolution=daily&limit=20&cursor=${cursor}`);
    expect(page.data).toEqual((await metrics(platform.current, byResource)).data.slice(10, 30));
  });

  test.each(['x', 'WzEwLDAsMF0', 'WzEwLDAsMF0.AAAAAAAAAAAAAAAA', ''])('"%s" is not a cursor', async (cursor) => {
    expect((await askMetrics(platform.current, `${byResource}&cursor=${cursor}`)).status).toBe(400);
  });

  test('a cursor lives for 24 hours and no longer', async () => {
    emulator = await startEmulator({ now: () => clock });
    const { nextCursor } = (await metrics(emulator, `${byResource}&limit=10`)).meta;
    clock = now + dayMs;
    expect((await askMetrics(emulator, `${byResource}&limit=10&cursor=${nextCursor}`)).status).toBe(200);
    clock = now + dayMs + 1_000;
    const late = await askMetrics(emulator, `${byResource}&limit=10&cursor=${nextCursor}`);
    expect(late.status).toBe(400);
    expect(late.body.message).toContain('24 hours');
  });

  test('pages show one instant, although the clock advances between them', async () => {
    emulator = await startEmulator({ now: () => clock });
    const today = 'startTime=2026-10-20T00:00:00Z&endTime=2026-10-22T00:00:00Z&groupBy=resource_name&limit=12';
    const one = await metrics(emulator, today);
    clock = now + 5 * 3_600_000;
    const two = await metrics(emulator, `${today}&cursor=${one.meta.nextCursor}`);
    const three = await metrics(emulator, `${today}&cursor=${two.meta.nextCursor}`);
    expect([two.summary, three.summary]).toEqual([one.summary, one.summary]);
    expect((await metrics(emulator, today)).summary.totalCost).toBeGreaterThan(one.summary.totalCost);
  });
});
