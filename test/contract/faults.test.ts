import { afterEach, describe, expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/fault-plan.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts';
import { ask, askMetrics, billionths, metrics, now, rawGet } from './platform.ts';

const hourMs = 3_600_000;
let emulator: Emulator | undefined;
afterEach(async () => {
  await emulator?.close();
  emulator = undefined;
});

async function start(faults: string, options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  emulator = await startEmulator({ now: () => now, faults: parseFaults(faults), ...options });
  return emulator;
}

const week = 'startTime=2026-10-05T00:00:00Z&endTime=2026-10-12T00:00:00Z';

/** The windows of a day each, of September 2026. */
const days = Array.from({ length: 29 }, (_, i) => {
  const date = (day: number) => `2026-09-${String(day).padStart(2, '0')}T00:00:00Z`;
  return `startTime=${date(i + 1)}&endTime=${date(i + 2)}`;
});

describe('temporary faults', () => {
  test('429 gives the time to wait in seconds', async () => {
    const { status, body, headers } = await ask(await start('429=1'), '/v0/accounts');
    expect([status, body.error, body.code]).toEqual([429, 'rate_limited', 429]);
    expect(headers.get('retry-after')).toBe('1');
  });

  test('429-date says it as an HTTP date', async () => {
    const { status, headers } = await ask(await start('429-date=1'), '/v0/accounts');
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  });

  test.each([500, 503])('%d has an error body', async (code) => {
    const { status, body } = await ask(await start(`${code}=1`), '/v0/accounts');
    expect([status, body.code]).toEqual([code, code]);
  });

  test('429-ms gives the time to wait in milliseconds, which may have a fraction, beside a longer one', async () => {
    const { status, headers } = await ask(await start('429-ms=1'), '/v0/accounts');
    expect([status, headers.get('retry-after-ms'), headers.get('retry-after')]).toEqual([429, '250.5', '1']);
  });

  test.each([
    [404, 'WORKLOAD_UNAVAILABLE', true],
    [402, 'USAGE_LIMIT_EXCEEDED', false],
  ])('%d has an object under error, which says whether to try again', async (code, name, retryable) => {
    const { status, body, headers } = await ask(await start(`${code}=1`), '/v0/accounts');
    expect(status).toBe(code);
    expect(body).toEqual({
      error: expect.objectContaining({ code: name, status: code, retryable, origin: 'platform' }),
    });
    expect([headers.get('x-service-source'), headers.get('x-service-error-code')]).toEqual(['platform', name]);
  });

  test('error-objects has one under every refusal but that of an unknown version', async () => {
    const { tokens } = await start('error-objects');
    const refused = async (path: string, version: string) => {
      const headers = { authorization: `Bearer ${tokens.admin}`, 'service-version': version };
      return (await ask(emulator as Emulator, path, headers)).body.error as unknown;
    };
    expect(await refused('/v0/nothing', '2026-04-28')).toMatchObject({ code: 'ROUTE_NOT_FOUND', retryable: false });
    expect(await refused('/v0/agents?limit=0', '2026-04-28')).toMatchObject({ code: 'BAD_REQUEST', status: 400 });
    expect(await refused('/v0/agents', '1')).toBe('invalid_api_version');
  });

  test('ignored-version answers a bare array whatever version is asked for', async () => {
    const { tokens } = await start('ignored-version');
    const headers = { authorization: `Bearer ${tokens.admin}`, 'service-version': '2026-04-28' };
    expect((await ask(emulator as Emulator, '/v0/agents', headers)).body).toBeInstanceOf(Array);
  });

  test('reset ends the connection without a response', async () => {
    await expect(ask(await start('reset=1'), '/v0/accounts')).rejects.toThrow('fetch failed');
    expect(emulator?.requests[0]).toMatchObject({ fault: 'reset', status: undefined });
  });

  test.each(['gzip', 'identity'])('truncated ends a body early (%s)', async (encoding) => {
    const { url, tokens, account } = await start('truncated=1');
    const headers = { authorization: `Bearer ${tokens.admin}`, 'accept-encoding': encoding };
    await expect(rawGet(`${url}/v0/accounts/${account}/metrics?${week}`, headers)).rejects.toThrow('aborted');
  });

  test('slow-body sends the whole body in parts', async () => {
    const { url, tokens, account } = await start('slow-body=1');
    const headers = { authorization: `Bearer ${tokens.admin}` };
    const { pieces } = await rawGet(`${url}/v0/accounts/${account}/metrics?${week}`, headers);
    expect(pieces.length).toBeGreaterThan(4);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toMatchObject({ resolution: 'daily' });
  });

  test('no request fails more than three times in a row at any rate', async () => {
    const platform = await start('500=1,429=1,503=1');
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await ask(platform, '/v0/accounts')).status);
    expect(statuses.map((status) => status === 200)).toEqual([false, false, false, true, false, false, false, true]);
  });

  test('about one request in seven is hit by default', async () => {
    const platform = await start('500');
    for (let i = 0; i < 300; i++) await ask(platform, `/v0/accounts?x=${i}`);
    const share = platform.requests.filter(({ fault }) => fault === '500').length / 300;
    expect(share).toBeGreaterThan(0.08);
    expect(share).toBeLessThan(0.22);
  });

  test('requests in another order are hit as well', async () => {
    const hit = async (order: readonly string[]) => {
      const platform = await start('503=0.5');
      for (const query of order) await askMetrics(platform, query);
      const paths = platform.requests.filter(({ fault }) => fault !== undefined).map(({ path }) => path);
      await platform.close();
      emulator = undefined;
      return paths.sort();
    };
    expect(await hit([...days].reverse())).toEqual(await hit(days));
  });

  test('a cursor is refused as expired, and after three passes through the pages one pass succeeds', async () => {
    let clock = now;
    // A clock that moves gives other cursors in each pass.
    const platform = await start('expired-cursor=1', { now: () => clock++ });
    const query = `${week}&groupBy=resource_name&limit=10`;
    const passes: string[] = [];
    for (let pass = 0; pass < 4; pass++) {
      let page = await askMetrics(platform, query);
      while (page.status === 200 && page.body.meta.hasMore) {
        page = await askMetrics(platform, `${query}&cursor=${page.body.meta.nextCursor}`);
      }
      passes.push(page.status === 200 ? 'through' : page.body.error);
    }
    expect(passes).toEqual(['invalid_cursor', 'invalid_cursor', 'invalid_cursor', 'through']);
  });
});

describe('lasting faults', () => {
  function sumOf(data: readonly { summary: { cost: number } }[]): number {
    return data.reduce((sum, { summary }) => sum + billionths(summary.cost), 0);
  }

  test('totals-disagree is always off by a cent or more for some windows', async () => {
    const platform = await start('totals-disagree=0.4');
    const off: number[] = [];
    for (const day of days) {
      const { summary, data } = await metrics(platform, day);
      const again = await metrics(platform, `${day}&groupBy=workspace`);
      expect(again.summary).toEqual(summary);
      expect(sumOf(again.data)).toBe(sumOf(data));
      off.push(Math.abs(billionths(summary.totalCost) - sumOf(data)));
    }
    const lies = off.filter((amount) => amount !== 0);
    expect(lies.length).toBeGreaterThan(5);
    expect(lies.length).toBeLessThan(20);
    expect(Math.min(...lies)).toBeGreaterThanOrEqual(10_000_000);
  });

  test('totals-flicker is off only in the first answer for a window', async () => {
    const platform = await start('totals-flicker=1');
    const one = await metrics(platform, week);
    const two = await metrics(platform, week);
    expect(billionths(one.summary.totalCost)).not.toBe(sumOf(one.data));
    expect(billionths(two.summary.totalCost)).toBe(sumOf(two.data));
  });

  test('wrong-rows changes rows by UUID in some windows, in each way, and no total', async () => {
    const honest = await start('');
    const platform = await start('wrong-rows=0.8');
    const kinds = new Set<string>();
    for (const day of days) {
      const query = `${day}&groupBy=resource_name,resource_uuid`;
      const [right, wrong] = [await metrics(honest, query), await metrics(platform, query)];
      expect(wrong.summary).toEqual(right.summary);
      expect((await metrics(platform, query)).data, 'the same lie each time').toEqual(wrong.data);
      if (wrong.data.length < right.data.length) kinds.add('missing');
      else if (sumOf(wrong.data) !== sumOf(right.data)) kinds.add('cost');
      else if (JSON.stringify(wrong.data) !== JSON.stringify(right.data)) kinds.add('hour');
      else kinds.add('none');
    }
    expect([...kinds].sort()).toEqual(['cost', 'hour', 'missing', 'none']);
  });

  test('missing-without-uuid omits rows without a UUID, also from the total, when grouping by UUID', async () => {
    const platform = await start('missing-without-uuid');
    const grouped = await metrics(platform, `${week}&groupBy=resource_name,resource_uuid`);
    expect(grouped.data.every((entry) => entry.resourceUuid !== undefined)).toBe(true);
    expect(billionths(grouped.summary.totalCost)).toBe(sumOf(grouped.data));
    const whole = await metrics(platform, `${week}&groupBy=resource_type`);
    const unnamed = whole.data.filter((entry) => ['volume', 'custom_domain'].includes(entry.resourceType ?? ''));
    expect(sumOf(whole.data) - sumOf(unnamed)).toBe(sumOf(grouped.data));
    expect(sumOf(unnamed)).toBeGreaterThan(0);
  });

  test('late costs grow for two days as the clock advances; single hours change up to nine days later', async () => {
    let clock = Date.UTC(2026, 9, 8);
    const storyEnd = Date.UTC(2026, 9, 21);
    const platform = await start('late', { now: () => clock, storyEnd });
    const day = 'startTime=2026-10-07T00:00:00Z&endTime=2026-10-08T00:00:00Z&groupBy=resource_name,billing_dimension';
    const seen: number[] = [];
    for (const hours of [0, 6, 24, 72, 120, 240, 480]) {
      clock = Date.UTC(2026, 9, 8) + hours * hourMs;
      seen.push((await metrics(platform, day)).summary.totalCost);
    }
    expect(seen[0]).toBeLessThan(seen[1] ?? 0);
    expect(seen[1]).toBeLessThan(seen[2] ?? 0);
    expect(seen[3]).not.toBe(seen[4]);
    expect(seen[4]).not.toBe(seen[5]);
    expect(seen[5]).toBe(seen[6]);
    const punctual = await startEmulator({ now: () => clock, storyEnd });
    const truth = (await metrics(punctual, day)).summary.totalCost;
    await punctual.close();
    expect(seen[6]).toBe(truth);
  });
});
