import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { drawingFiles, testFiles } from '../support/tiers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const files = testFiles(root);
const secondTier = [...files].flatMap(([file, reason]) => (reason === undefined ? [] : [{ file, reason }]));

/** The files that vitest runs for a script of package.json. */
function filesOf(script: string): string[] {
  const [, ...args] = /vitest run(.*)$/.exec(manifest.scripts[script])?.[1]?.split(' ') ?? [];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const answer = execFileSync(process.execPath, [vitest, 'list', '--filesOnly', '--json', ...args], { cwd: root });
  const listed = JSON.parse(answer.toString()) as { file: string }[];
  return listed.map(({ file }) => relative(root, file)).sort();
}

test('`npm test` and `npm run test:slow` run every test file once between them, and `npm run test:all` runs all', () => {
  const [first, second, all] = [filesOf('test'), filesOf('test:slow'), filesOf('test:all')];
  expect([...first, ...second].sort()).toEqual([...files.keys()]);
  expect(all).toEqual([...files.keys()]);
  expect(second).toEqual(secondTier.map(({ file }) => file));
});

test('`npm run test:random` runs the files that draw cases, with fresh ones', () => {
  const drawing = filesOf('test:random');
  expect(drawing).toEqual(drawingFiles(root));
  for (const file of ['test/property/plan.test.ts', 'test/crash/many-rounds.test.ts']) expect(drawing).toContain(file);
});

test('CI runs both tiers, each once', () => {
  const lines = readFileSync(join(root, '.ci', 'run'), 'utf8').split('\n');
  expect(lines.filter((line) => /npm (run )?test/.test(line))).toEqual(['npm test', 'npm run test:slow']);
});

test.each(secondTier)('$file is in the second tier for a reason', ({ reason }) => {
  expect(reason).toMatch(/^[A-Z].{15,}\.$/);
});

test('a mark of the second tier that is not the first line of its file is refused', () => {
  const marked = [...files.keys()].filter((file) =>
    /^\s*\/\/\s*second.tier/im.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(marked).toEqual(secondTier.map(({ file }) => file));
});

test('properties draw their cases from the seed of the run', () => {
  const importers = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => /^import .* from 'fast-check'/m.test(readFileSync(join(root, 'test', name), 'utf8')));
  expect(importers).toEqual([join('support', 'fast-check.ts')]);
});
