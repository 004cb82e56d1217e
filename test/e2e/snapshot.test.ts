import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openWarehouse } from '../../src/warehouse/index.ts';
import { askFile, askSnapshot, costsIn, ingest, newProject, runCli } from '../support/project.ts';
import { expectedCosts, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2]);
let dir = '';
beforeAll(async () => {
  dir = await newProject();
  await ingest(dir, await startScriptedPlatform(facts), { now: '2026-09-05T12:30:00Z' });
});

describe('the snapshot', () => {
  test('is a file that DuckDB opens by itself, views and all', async () => {
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    expect(
      await askSnapshot(
        dir,
        'select workspace, cast(sum(cost) as varchar) as cost from costs_monthly group by workspace',
      ),
    ).toEqual([{ workspace: 'north', cost: '3.000000000000' }]);
  });

  test('answers under another name too: whoever reads it may copy it', async () => {
    const copy = join(dir, 'a-copy.duckdb');
    await copyFile(join(dir, 'data', 'costbook.duckdb'), copy);
    expect(await askFile(copy, 'select count(*) as rows from costs_daily')).toEqual([{ rows: '1' }]);
  });

  test('stands alone: no log and no part of it lies beside it', async () => {
    expect((await readdir(join(dir, 'data'))).sort()).toEqual(['costbook.duckdb', 'landing', 'warehouse.duckdb']);
  });

  test('is open to readers while a writer holds the warehouse, who see what was published last', async () => {
    const warehouse = await openWarehouse(dir);
    try {
      await warehouse.beginRun('not published yet', Date.UTC(2026, 8, 6));
      const answers = await Promise.all([
        runCli(['sql', 'select count(*) as runs from runs', '--dir', dir, '--json']),
        runCli(['status', '--dir', dir, '--json']),
        askSnapshot(dir, 'select count(*) as runs from runs'),
      ]);
      expect(answers[0]).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(answers[0].stdout).rows).toEqual([{ runs: 1 }]);
      expect(answers[1].exitCode).toBe(0);
      expect(answers[2]).toEqual([{ runs: '1' }]);
    } finally {
      warehouse.close();
    }
  });

  test('that a reader holds open can be replaced; the reader keeps the old one', async () => {
    const folder = await newProject();
    const warehouse = await openWarehouse(folder);
    try {
      await warehouse.publish();
      const { DuckDBInstance } = await import('@duckdb/node-api');
      const instance = await DuckDBInstance.create(join(folder, 'data', 'costbook.duckdb'), {
        access_mode: 'READ_ONLY',
      });
      const reader = await instance.connect();
      await warehouse.beginRun('later', Date.UTC(2026, 8, 6));
      await warehouse.publish();
      expect((await reader.runAndReadAll('select count(*)::integer as runs from runs')).getRowObjectsJson()).toEqual([
        { runs: 0 },
      ]);
      reader.closeSync();
      instance.closeSync();
      expect(await askSnapshot(folder, 'select command from runs')).toEqual([{ command: 'later' }]);
    } finally {
      warehouse.close();
    }
  });
});
