import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Connection, Database } from '../../src/warehouse/store/connection.ts';
import { openScratch } from '../../src/warehouse/store/database.ts';

let folder: string;
let database: Database;
let sealed: Connection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'costbook-session-'));
  database = await openScratch(folder);
  sealed = await database.connect();
  await sealed.seal();
});
afterAll(async () => {
  database.close();
  await rm(folder, { recursive: true, force: true });
});

const one = [{ one: 1 }];

test('a sealed connection answers again after a statement failed, and stays read-only', async () => {
  await expect(sealed.rows("select cast(text as integer) as one from (values ('x')) as given(text)")).rejects.toThrow(
    'x',
  );
  expect(await sealed.rows('select 1 as one')).toEqual(one);
  await expect(sealed.run('create table memory.main.more as select 1')).rejects.toThrow('read-only');
  expect(await sealed.rows('select 1 as one')).toEqual(one);
});

test('a signal interrupts the statements of its work only', async () => {
  const leaving = new AbortController();
  const long = 'select sum(a.range * b.range) as one from range(1000000) as a, range(1000000) as b';
  const work = sealed.during(leaving.signal, () => Promise.all([sealed.rows(long), sealed.rows(long)]));
  await wait(50);
  leaving.abort(new Error('left'));
  await expect(work).rejects.toThrow('left');
  expect(await sealed.rows('select 1 as one')).toEqual(one);
});

test('an interruption ends with its statement: what starts the next transaction is not interrupted', async () => {
  const { run, interrupt } = DuckDBConnection.prototype;
  let isStarting = false;
  const interruptions: boolean[] = [];
  vi.spyOn(DuckDBConnection.prototype, 'interrupt').mockImplementation(function (this: DuckDBConnection) {
    interruptions.push(isStarting);
    interrupt.call(this);
  });
  vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (this: DuckDBConnection, ...given) {
    isStarting = /^(rollback|begin)/.test(given[0]);
    if (isStarting) await wait(60); // it may take a moment
    return run.apply(this, given).finally(() => {
      isStarting = false;
    });
  });
  const leaving = new AbortController();
  const work = sealed.during(leaving.signal, () =>
    sealed.rows('select sum(hash(a.range)) as one from range(100000000000) as a'),
  );
  await wait(50);
  leaving.abort(new Error('left'));
  await expect(work).rejects.toThrow('left');
  expect(interruptions).toContain(false);
  expect(interruptions).not.toContain(true);
  vi.restoreAllMocks();
  expect(await sealed.rows('select 1 as one')).toEqual(one);
});
