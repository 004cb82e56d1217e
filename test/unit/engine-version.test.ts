import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { engineVersion } from '../../src/forecast/engine-version.ts';

const folder = join(import.meta.dirname, '../../src/forecast');

test('the version of the forecasting engine changes with its sources, so that forecasts of another one are not used', () => {
  const files = readdirSync(folder).filter((name) => name !== 'engine-version.ts');
  const hash = createHash('sha256');
  for (const name of files.sort()) hash.update(`${name}\n${readFileSync(join(folder, name), 'utf8')}`);
  expect(engineVersion, 'write this version into src/forecast/engine-version.ts').toBe(hash.digest('hex').slice(0, 16));
});
