import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { largestIn } from '../../src/warehouse/integrity/space.ts';
import { afterTest } from '../support/clean-up.ts';

const megabyte = 1024 ** 2;

test('links in a project folder are not followed when its largest folders are named', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'costbook-space-'));
  afterTest(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'data', 'landing'), { recursive: true });
  await mkdir(join(dir, 'exports', 'lake'), { recursive: true });
  for (const file of ['exports/lake/a', 'notes.csv']) {
    await writeFile(join(dir, file), '');
    await truncate(join(dir, file), 20 * megabyte);
  }
  // Ways round, and to what is not below the project.
  for (const name of ['a', 'b', 'c']) await symlink(dir, join(dir, 'exports', name));
  await symlink(join(dir, 'exports'), join(dir, 'archive'));
  const found = await largestIn(dir);
  expect(found.map(({ path, bytes }) => [path, Math.floor(bytes / megabyte)])).toEqual([
    ['exports', 20],
    ['notes.csv', 20],
  ]);
}, 20_000);
