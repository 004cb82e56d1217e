import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { compiledTo } from '../bench/compiled.ts';

const modules = ['fetch/decode-elsewhere', 'fetch/query-pages', 'fetch/decode'] as const;
let addresses: readonly string[] = [];
beforeAll(async () => {
  addresses = await compiledTo(...modules);
});

/**
 * Runs a module in a process of its own, as compiled code runs: only there is another thread. It has `page(change)`, the
 * gzipped body of a large page after a change, `expected` for it, and `print`.
 */
async function runCompiled(code: string): Promise<unknown> {
  const module = `
    import assert from 'node:assert/strict';
    import { gzipSync, gunzipSync } from 'node:zlib';
    import { decodeElsewhere } from '${addresses[0]}';
    import { readPage } from '${addresses[1]}';
    import { decodePage } from '${addresses[2]}';
    const hours = 168;
    const start = Date.UTC(2026, 9, 1);
    const at = (hour) => new Date(start + hour * 3_600_000).toISOString().replace('.000', '');
    const window = { start, end: start + hours * 3_600_000 };
    const expected = { window, resolution: 'hourly', about: 'account acc_one, page 1' };
    function page(change = (body) => body) {
      const data = Array.from({ length: 100 }, (_, number) => {
        const timeseries = Array.from({ length: hours }, (_, hour) => {
          const mixed = Math.imul((number + 1) * 168 + hour, 0x9e3779b1) >>> 0;
          return { timestamp: at(hour), cost: (mixed % 50_000_017) / 1e9, usage: (mixed % 3_600_007) / 1e3 };
        });
        const summary = { cost: 1.5, usage: 2 };
        return { workspace: 'prod', resourceName: 'agent-' + number, billingDimension: 'agent_compute_runtime_gbs', summary, timeseries };
      });
      const body = { startTime: at(0), endTime: at(hours), resolution: 'hourly', summary: { totalCost: 150, totalUsage: 200 }, data, meta: { hasMore: false } };
      return { bytes: gzipSync(JSON.stringify(change(body) ?? body)), gzipped: true };
    }
    const print = (value) => process.stdout.write(JSON.stringify(value));
    ${code}`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', module], { timeout: 60_000 });
  return JSON.parse((await run).stdout);
}

describe('a large page in a worker thread', () => {
  test('is decoded to the same columns as in the main thread, and the process ends when all pages are done', async () => {
    const same = await runCompiled(`
      const bodies = [page(), page((body) => { body.data[7].timeseries[3].cost = -12.5; }), page((body) => { body.data.length = 60; })];
      const pages = await Promise.all(bodies.map((body) => decodeElsewhere(body, expected)));
      for (const [index, { bytes }] of bodies.entries()) {
        const here = decodePage(JSON.parse(gunzipSync(bytes)), expected);
        const elsewhere = pages[index];
        assert.deepEqual({ ...elsewhere, points: undefined }, { ...here, points: undefined });
        const count = here.points.count;
        for (const name of ['entry', 'bucket', 'cost', 'usage']) {
          assert.deepEqual(elsewhere.points[name].slice(0, count), here.points[name].slice(0, count));
        }
        assert.equal(elsewhere.points.count, count);
      }
      print(pages.map(({ points }) => points.count));
    `);
    expect(same).toEqual([16_800, 16_800, 10_080]);
  });

  test('causes the same error as a small page if it is refused, truncated or not JSON', async () => {
    const told = await runCompiled(`
      const query = { window, resolution: 'hourly' };
      const cut = page();
      const bodies = [
        page((body) => { body.data[42].timeseries[5].cost = null; }),
        { ...cut, bytes: cut.bytes.subarray(0, cut.bytes.length - 500) },
        { bytes: gzipSync(JSON.stringify(page().bytes.toJSON()).slice(0, -2)), gzipped: true },
      ];
      const messages = [];
      for (const body of bodies) {
        assert.equal(await decodeElsewhere(body, expected), undefined);
        messages.push(await readPage(body, query, 'account acc_one, page 1').then(() => 'taken', (error) => error.message));
      }
      print(messages);
    `);
    expect(told).toEqual([
      expect.stringMatching(
        /^account acc_one, page 1: data\[42\]\.timeseries\[5\]\.cost: found null, expected a finite number/,
      ),
      expect.stringMatching(/^a body that cannot be unpacked/),
      expect.stringMatching(/^a body of .* that is not JSON/),
    ]);
  });

  test('is only used for large compressed bodies', async () => {
    const left = await runCompiled(`
      const plain = page();
      print([
        await decodeElsewhere(page((body) => { body.data.length = 3; }), expected),
        await decodeElsewhere({ bytes: gunzipSync(plain.bytes), gzipped: false }, expected),
      ]);
    `);
    expect(left).toEqual([null, null]);
  });
});
