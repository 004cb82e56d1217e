import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { startEmulator } from '../../src/emulator/index.ts';
import { openLandingWriter } from '../../src/fetch/landing-writer.ts';
import { ingest } from '../../src/ingest/index.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { afterTest } from '../support/clean-up.ts';
import { projectWithBooks } from '../support/given-books.ts';
import { never, testClient, testEffects } from '../support/http-client.ts';

test('a bug that the answers of one account meet ends the ingest once the others are loaded', async () => {
  const now = Date.parse('2026-10-21T03:30:00Z');
  const emulator = await startEmulator({ now: () => now, storyEnd: now, seed: 1, resources: 4 });
  afterTest(() => emulator.close());
  const dir = await projectWithBooks();
  const accounts = ['acc_odd', emulator.account].map((id) => `  - { id: ${id}, url: "${emulator.url}", token: tok-1 }`);
  await writeFile(
    join(dir, 'costbook.yaml'),
    `accounts:\n${accounts.join('\n')}\nsince: 2026-10-20\ninventory: false\n`,
  );
  await mkdir(join(dir, 'data', 'landing'), { recursive: true });
  const warehouse = await openWarehouse(dir);
  afterTest(() => warehouse.close());
  const effects = { ...testEffects(), now: () => now };
  const run = await warehouse.beginRun('ingest', now, 'ingest');
  const ingested = ingest(
    {
      ...{ config: loadConfig({ dir, env: {}, now }), from: undefined, to: undefined, refetch: false },
      ...{
        acceptReducedAccess: false,
        acceptRenamedWorkspaces: false,
        acceptShrunkListings: false,
        runNumber: run.number,
      },
    },
    {
      ...{ warehouse, landing: openLandingWriter(join(dir, 'data', 'landing')), effects, signal: never() },
      openClient({ id }) {
        if (id === 'acc_odd') throw new TypeError('a bug');
        return testClient(emulator.url, { settings: { token: async () => emulator.tokens.admin } });
      },
      redact: (words) => words,
      onProgress: () => undefined,
    },
  );
  await expect(ingested).rejects.toThrow('a bug');
  expect(await warehouse.accountLedger(emulator.account)).toMatchObject({ role: 'admin' });
});
