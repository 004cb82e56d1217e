import { copyFile, cp, mkdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'vitest';
import { readSeal, sealFile } from '../../src/warehouse/integrity/seal.ts';
import { ingest, newProject } from './project.ts';
import { series, startScriptedPlatform } from './scripted-platform.ts';

const box = { type: 'sandbox', dimension: 'sandbox_compute_runtime_gbs' };
const volume = { type: 'volume', name: '=data "1",\n2', uuid: null, dimension: 'volume_storage_gbs' };

/**
 * `first`: September. `second`, a day later: an hour of September is restated, and October has started. `third`, instead
 * of `second`: October has started.
 */
export type Night = 'first' | 'second' | 'third';

/** The same account on two nights, one of them in two ways. */
export interface TwoNights {
  /** Puts the snapshot of a night into a project folder. */
  publish(dir: string, night: Night): Promise<void>;
}

/** Renames the only account of a snapshot, and seals it again: ids that the scripted platform does not have. */
async function renameAccount(file: string, account: string): Promise<void> {
  const sealed = await readSeal(file);
  if (sealed.state !== 'intact') throw new Error(`${file} is ${sealed.state}`);
  await truncate(file, sealed.seal.bytes);
  const instance = await DuckDBInstance.create(file, { threads: '1' });
  const connection = await instance.connect();
  const tables = await connection.runAndReadAll(
    `select table_name from duckdb_columns() where schema_name = 'ledger' and column_name = 'account'
      and table_name in (select table_name from duckdb_tables())`,
  );
  for (const [table] of tables.getRows()) await connection.run(`update ledger.${table} set account = $1`, [account]);
  connection.closeSync();
  instance.closeSync();
  await sealFile(file, sealed.seal, new Date(sealed.seal.publishedAt));
}

export async function twoNights(account = 'acc_one'): Promise<TwoNights> {
  const september = [
    ...series({ ...box, workspace: 'north', name: 'a', uuid: 'sbx-1' }, '2026-09-03T05', [0.1, 0.2]),
    ...series({ ...box, workspace: '@south, "east"', name: 'c', uuid: 'sbx-3' }, '2026-09-29T05', [3]),
    ...series({ ...volume, workspace: 'north' }, '2026-09-15T05', [2, 0.000000001]),
  ];
  const october = series({ ...box, workspace: 'north', name: 'b', uuid: 'sbx-2' }, '2026-10-01T00', [1.5, 64]);
  const restated = september.map((fact) => (fact.cost === 3 ? { ...fact, cost: 4 } : fact));
  const snapshots = await newProject();
  async function run(dir: string, night: Night, facts: Parameters<typeof startScriptedPlatform>[0]): Promise<void> {
    const now = night === 'first' ? '2026-10-01T12:30:00Z' : '2026-10-02T12:30:00Z';
    const platform = await startScriptedPlatform(facts);
    const { exitCode, stderr } = await ingest(dir, platform, { now });
    expect(exitCode, stderr).toBe(0);
    await copyFile(join(dir, 'data', 'costbook.duckdb'), join(snapshots, night));
    await renameAccount(join(snapshots, night), account);
  }
  const begun = await newProject();
  await run(begun, 'first', september);
  for (const [night, later] of [
    ['second', restated],
    ['third', september],
  ] as const) {
    const dir = await newProject();
    await cp(begun, dir, { recursive: true });
    await run(dir, night, [...later, ...october]);
  }
  return {
    async publish(into, night) {
      await mkdir(join(into, 'data'), { recursive: true });
      await copyFile(join(snapshots, night), join(into, 'data', 'costbook.duckdb'));
    },
  };
}
