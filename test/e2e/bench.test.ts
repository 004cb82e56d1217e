// Second tier: Compiles and runs every bench.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Says only that the benches run and how they tell what they found: seconds of a busy machine are no fact about it.
test('npm run bench measures what is named, and reports it as text and as JSON', { timeout: 240_000 }, () => {
  execFileSync(`${root}/node_modules/.bin/tsc`, ['-p', 'tsconfig.bench.json'], { cwd: root });
  const answer = execFileSync(process.execPath, ['build/bench/bench.js', '--quick', '--json'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { machine, quick, figures } = JSON.parse(answer);
  expect(machine).toMatch(/^\d+ cores/);
  expect(quick).toBe(true);
  expect(new Set(figures.map(({ bench }: { bench: string }) => bench))).toEqual(
    new Set(['ingest', 'load', 'night', 'series', 'reports', 'forecast', 'months', 'anomalies']),
  );
  for (const figure of figures) {
    expect(figure).toMatchObject({
      measured: expect.any(String),
      unit: expect.stringMatching(/^(x|s|%|MiB|calls|events|alarms)$/),
    });
    // Of unwanted events, 0 is the best; the few series of a quick run may all miss a share.
    const mayBeNone = figure.bench === 'anomalies' || figure.unit === '%';
    expect(figure.value, figure.measured)[mayBeNone ? 'toBeGreaterThanOrEqual' : 'toBeGreaterThan'](0);
  }
});
