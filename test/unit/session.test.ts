import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
