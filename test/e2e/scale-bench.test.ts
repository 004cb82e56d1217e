// Second tier, long: Makes books of three sizes and runs nights, alerts, reports and the lake over each.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Says only that the bench runs, and that the platform, the loader and the nights agree on every number.
test('npm run bench -- scale measures books of several sizes', { timeout: 900_000 }, () => {
  execFileSync(`${root}/node_modules/.bin/tsc`, ['-p', 'tsconfig.bench.json'], { cwd: root });
  const answer = execFileSync(
    process.execPath,
    ['build/bench/bench.js', 'scale', '--quick', '--points', '30000', '--json'],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const { figures } = JSON.parse(answer);
  const measured = figures.map(({ measured: words }: { measured: string }) => words.replace(/^[^:]*: /, ''));
  for (const what of ['size of the books on disk, a row', 'alert', 'report lake with nothing changed', 'a night']) {
    expect(measured).toContain(what);
  }
  for (const figure of figures) expect(figure.value, figure.measured).toBeGreaterThan(0);
});
